import { Client } from "emailvalidation";

const stored = await new Client().domains.replace({
  allowed: ["partner.example"],
  denied: ["Spam.example", "bücher.example"],
});

console.log("Denied:", stored.denied.join(", "));
