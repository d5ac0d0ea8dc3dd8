import { randomUUID } from "node:crypto";
import { Client } from "emailvalidation";

const client = new Client();
// The client makes a key for each call. Choose one if your own job may run twice.
const idempotencyKey = randomUUID();
const first = await client.validate("deliverable@sandbox.test", { idempotencyKey });
const again = await client.validate("deliverable@sandbox.test", { idempotencyKey });

console.log(again.id === first.id ? "Same result" : "Another result");
