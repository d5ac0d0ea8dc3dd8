const answer = await fetch("{{ base_url }}/v1/validate", {
  method: "POST",
  headers: {
    Authorization: `Bearer ${process.env.SVC_API_KEY}`,
    "Content-Type": "application/json",
  },
  body: JSON.stringify({ email: "insufficient_credits@sandbox.test" }),
  signal: AbortSignal.timeout(10_000),
});
const document = await answer.json();

if (answer.ok) {
  console.log(document.verdict);
} else {
  console.log(answer.status, document.error.code);
  console.log(document.error.message);
}
