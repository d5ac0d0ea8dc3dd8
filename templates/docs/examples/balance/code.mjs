const response = await fetch("{{ base_url }}/v1/credits", {
  headers: { Authorization: `Bearer ${process.env.SVC_API_KEY}` },
  signal: AbortSignal.timeout(10_000),
});
const credits = await response.json();

console.log("Balance:", credits.balance);
if (credits.balance <= credits.low_balance_threshold) {
  console.log("Running low. Buy credits soon.");
}
