import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

// Returns the result. Retries, but pays only once.
async function validate(email, tries = 5) {
  const request = {
    method: "POST",
    headers: {
      Authorization: `Bearer ${process.env.SVC_API_KEY}`,
      "Content-Type": "application/json",
      "Idempotency-Key": randomUUID(),
    },
    body: JSON.stringify({ email }),
  };
  for (let tried = 0; tried < tries; tried += 1) {
    const [status, headers, body] = await send(request);
    if (status === 200) {
      return body;
    }
    const seconds = secondsToWait(status, headers, body, tried);
    if (seconds === null) {
      throw new Error(`${status} ${body.error.code}`);
    }
    if (tried + 1 < tries) {
      await sleep(seconds * 1000);
    }
  }
  throw new Error(`No result after ${tries} attempts.`);
}

async function send(request) {
  try {
    const signal = AbortSignal.timeout(10_000);
    const response = await fetch("{{ base_url }}/v1/validate", { ...request, signal });
    return [response.status, response.headers, await response.json()];
  } catch {
    return [null, null, null];
  }
}

// Returns null if a retry would get the same response.
function secondsToWait(status, headers, body, tried) {
  if (status === 429) {
    return Number(headers.get("Retry-After"));
  }
  if (status === 503) {
    return body.error.details.retry_after;
  }
  return status === null || status === 500 ? 2 ** tried : null;
}

console.log((await validate("risky@sandbox.test")).verdict);
