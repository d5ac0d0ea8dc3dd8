import { Client } from "emailvalidation";

const { data: me } = await new Client().request("GET", "/v1/me");

console.log("The key works. Plan:", me.plan);
