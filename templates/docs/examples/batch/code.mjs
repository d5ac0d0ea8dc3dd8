import { Client } from "emailvalidation";

const client = new Client();
const emails = ["deliverable@sandbox.test", "undeliverable@sandbox.test"];

// Takes any number of addresses, and sends up to 100 in a request.
for await (const result of client.validateMany(emails)) {
  console.log(result.email, result.verdict);
}
