import { Client } from "emailvalidation";

const client = new Client();
const result = await client.validate("disposable@sandbox.test");

console.log(result.verdict, result.reasons[0], result.score);
console.log("Cost:", result.credits.charged);
