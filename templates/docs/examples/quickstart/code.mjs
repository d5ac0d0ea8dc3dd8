import { Client } from "emailvalidation";

const client = new Client(); // Reads SVC_API_KEY and SVC_BASE_URL.
const result = await client.validate("possible_typo@sandbox.test");

console.log(result.verdict, result.reason);
console.log(`Did you mean ${result.did_you_mean}?`);
