async function validateBatch(emails) {
  const response = await fetch("{{ base_url }}/v1/validate/batch", {
    method: "POST",
    headers: {
      Authorization: `Bearer ${process.env.SVC_API_KEY}`,
      "Content-Type": "application/json",
      "Idempotency-Key": crypto.randomUUID(),
    },
    body: JSON.stringify({ emails }),
    signal: AbortSignal.timeout(15_000),
  });
  if (!response.ok) {
    throw new Error(await response.text());
  }
  return response.json();
}

const batch = await validateBatch(["deliverable@sandbox.test", "undeliverable@sandbox.test"]);
for (const result of batch.results) {
  console.log(result.email, result.verdict);
}
console.log("Cost:", batch.credits.charged);
