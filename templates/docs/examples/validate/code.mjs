async function validate(email) {
  const response = await fetch("{{ base_url }}/v1/validate", {
    method: "POST",
    headers: {
      Authorization: `Bearer ${process.env.SVC_API_KEY}`,
      "Content-Type": "application/json",
    },
    body: JSON.stringify({ email }),
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) {
    throw new Error(await response.text());
  }
  return response.json();
}

const result = await validate("disposable@sandbox.test");
console.log(result.verdict, result.reasons[0], result.score);
console.log("Cost:", result.credits.charged);
