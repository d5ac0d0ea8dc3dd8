import { Client } from "emailvalidation";

const credits = await new Client().credits();

console.log("Balance:", credits.balance);
if (credits.balance <= credits.low_balance_threshold) {
  console.log("Running low. Buy credits soon.");
}
