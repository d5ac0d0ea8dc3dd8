// Returns the verdict or the error code.
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
  const body = await response.json();
  return response.ok ? body.verdict : body.error.code;
}

for (const word of ["deliverable", "mailbox_full", "dns_timeout", "insufficient_credits"]) {
  console.log(`${word}:`, await validate(`${word}@sandbox.test`));
}
