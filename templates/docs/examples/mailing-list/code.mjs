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
const AT_ONCE = 4;

const keyOf = (email) => createHash("sha256").update(`${LIST} ${email}`).digest("hex");

// The answer; waits where the limit says so.
async function validate(email) {
  for (;;) {
    const answer = await fetch("{{ base_url }}/v1/validate", {
      method: "POST",
      headers: {
        Authorization: `Bearer ${process.env.SVC_API_KEY}`,
        "Content-Type": "application/json",
        // The same when the program is started again: nothing is paid twice.
        "Idempotency-Key": keyOf(email),
      },
      body: JSON.stringify({ email }),
      signal: AbortSignal.timeout(10_000),
    });
    if (answer.ok) {
      return answer.json();
    }
    if (answer.status !== 429) {
      throw new Error(await answer.text());
    }
    await sleep(Number(answer.headers.get("Retry-After")) * 1000);
  }
}

function whatToDo({ verdict, reason }) {
  if (verdict === "unknown") {
    return "ask again";
  }
  if (verdict === "undeliverable" || ["disposable", "no_reply"].includes(reason)) {
    return "take off";
  }
  return reason === "possible_typo" ? "ask them" : "send";
}

for (let first = 0; first < EMAILS.length; first += AT_ONCE) {
  const some = EMAILS.slice(first, first + AT_ONCE);
  for (const result of await Promise.all(some.map(validate))) {
    console.log(whatToDo(result), result.email);
  }
}
