const response = await fetch("{{ base_url }}/v1/validate", {
  method: "POST",
  headers: {
    Authorization: `Bearer ${process.env.SVC_API_KEY}`,
    "Content-Type": "application/json",
  },
  body: JSON.stringify({ email: "possible_typo@sandbox.test" }),
  signal: AbortSignal.timeout(10_000),
});
const result = await response.json();

console.log(result.verdict, result.reason);
console.log(`Did you mean ${result.did_you_mean}?`);
