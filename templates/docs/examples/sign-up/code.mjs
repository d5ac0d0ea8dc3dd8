import { Client } from "emailvalidation";

const client = new Client();
const check = await client.signUpCheck("possible_typo@sandbox.test");

if (check.suggestion) {
  console.log(`Did you mean ${check.suggestion}?`);
}
console.log(check.accept ? "Welcome." : check.message);
