import { Client } from "emailvalidation";

const webhook = {
  url: "https://hooks.shop.example/validation",
  types: ["list.completed", "credits.low"],
};
const { data: created } = await new Client().request("POST", "/v1/webhooks", { json: webhook });

const { secret } = created; // Store it where your server reads it.
console.log("State:", created.state);
