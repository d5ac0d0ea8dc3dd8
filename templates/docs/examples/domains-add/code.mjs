import { Client } from "emailvalidation";

// Keeps what other programs change at the same time.
await new Client().domains.deny("spam.example");
console.log("spam.example is denied");
