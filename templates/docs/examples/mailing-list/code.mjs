import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

const LIST = "newsletter-2026-12";
const EMAILS = [
  "deliverable@sandbox.test",
  "disposable@sandbox.test",
  "possible_typo@sandbox.test",
  "mailbox_not_found@sandbox.test",
  "dns_timeout@sandbox.test",
];
const BATCH_SIZE = 4;

const idempotencyKey = (email) => createHash("sha256").update(`${LIST} ${email}`).digest("hex");

// Returns the result. Waits if the rate limit is exceeded.
async function validate(email) {
  for (;;) {
    const response = await fetch("{{ base_url }}/v1/validate", {
      method: "POST",
      headers: {
        Authorization: `Bearer ${process.env.SVC_API_KEY}`,
        "Content-Type": "application/json",
        // Stays the same if you restart the script, so you don't pay twice.
        "Idempotency-Key": idempotencyKey(email),
      },
      body: JSON.stringify({ email }),
      signal: AbortSignal.timeout(10_000),
    });
    if (response.ok) {
      return response.json();
    }
    if (response.status !== 429) {
      throw new Error(await response.text());
    }
    await sleep(Number(response.headers.get("Retry-After")) * 1000);
  }
}

function chooseAction({ verdict, reason }) {
  if (verdict === "unknown") {
    return "retry later";
  }
  if (verdict === "undeliverable" || ["disposable", "no_reply"].includes(reason)) {
    return "remove";
  }
  return reason === "possible_typo" ? "confirm" : "send";
}

for (let first = 0; first < EMAILS.length; first += BATCH_SIZE) {
  const batch = EMAILS.slice(first, first + BATCH_SIZE);
  for (const result of await Promise.all(batch.map(validate))) {
    console.log(chooseAction(result), result.email);
  }
}
