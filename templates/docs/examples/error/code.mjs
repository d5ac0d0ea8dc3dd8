import { Client, EmailValidationError } from "emailvalidation";

const client = new Client();
try {
  console.log((await client.validate("insufficient_credits@sandbox.test")).verdict);
} catch (error) {
  if (!(error instanceof EmailValidationError)) {
    throw error;
  }
  console.log(error.status, error.code);
  console.log(error.message);
}
