import { Client } from "emailvalidation";

// Retries what a retry can help, pays once, and gives up after 30 seconds in all.
const client = new Client({ timeout: 30_000 });

console.log((await client.validate("risky@sandbox.test")).verdict);
