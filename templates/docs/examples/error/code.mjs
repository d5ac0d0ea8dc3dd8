const response = await fetch("{{ base_url }}/v1/validate", {
  method: "POST",
  headers: {
    Authorization: `Bearer ${process.env.SVC_API_KEY}`,
    "Content-Type": "application/json",
  },
  body: JSON.stringify({ email: "insufficient_credits@sandbox.test" }),
  signal: AbortSignal.timeout(10_000),
});
const body = await response.json();

if (response.ok) {
  console.log(body.verdict);
} else {
  console.log(response.status, body.error.code);
  console.log(body.error.message);
}
