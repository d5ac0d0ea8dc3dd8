import { Client } from "emailvalidation";

const client = new Client();

// Returns the verdict or the error code.
async function validate(email) {
  try {
    return (await client.validate(email)).verdict;
  } catch (error) {
    return error.code;
  }
}

for (const word of ["deliverable", "mailbox_full", "dns_timeout", "insufficient_credits"]) {
  console.log(`${word}:`, await validate(`${word}@sandbox.test`));
}
