import { randomUUID } from "node:crypto";

const request = {
  method: "POST",
  headers: {
    Authorization: `Bearer ${process.env.SVC_API_KEY}`,
    "Content-Type": "application/json",
    "Idempotency-Key": randomUUID(),
  },
  body: JSON.stringify({ email: "deliverable@sandbox.test" }),
};

const first = await fetch("{{ base_url }}/v1/validate", request);
const again = await fetch("{{ base_url }}/v1/validate", request);

console.log("Idempotent-Replayed:", again.headers.get("Idempotent-Replayed"));
console.log((await again.text()) === (await first.text()) ? "Same response" : "Different response");
