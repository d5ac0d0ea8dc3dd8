import { Client } from "emailvalidation";

const client = new Client();
const result = await client.validate("deliverable@sandbox.test");
const { data: feedback } = await client.request("POST", `/v1/validations/${result.id}/feedback`, {
  json: { expected: "undeliverable", bounce: "550 5.1.1 Mailbox does not exist" },
});

console.log("State:", feedback.state);
