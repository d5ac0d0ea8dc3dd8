// Makes calls, 32 at a time, and prints their outcomes: `… CALLS DEADLINE`.
import { Client, EmailValidationError } from "emailvalidation";

const [calls, deadline] = process.argv.slice(2).map(Number);
const client = new Client({ timeout: deadline * 1000 });
let next = 0;

async function call(number) {
  // Invalid syntax costs a credit, too, and needs no DNS.
  const outcome = { address: `typescript ${calls} ${number}`, result: "", error: "" };
  const start = performance.now();
  try {
    outcome.result = (await client.validate(outcome.address)).id;
  } catch (error) {
    if (!(error instanceof EmailValidationError)) {
      throw error;
    }
    outcome.error = error.name;
  }
  return { ...outcome, seconds: (performance.now() - start) / 1000 };
}

async function work() {
  while (next < calls) {
    console.log(JSON.stringify(await call(next++)));
  }
}

await Promise.all(Array.from({ length: 32 }, work));
