// The verdict, or the error's code.
async function ask(email) {
  const answer = await fetch("{{ base_url }}/v1/validate", {
    method: "POST",
    headers: {
      Authorization: `Bearer ${process.env.SVC_API_KEY}`,
      "Content-Type": "application/json",
    },
    body: JSON.stringify({ email }),
    signal: AbortSignal.timeout(10_000),
  });
  const document = await answer.json();
  return answer.ok ? document.verdict : document.error.code;
}

for (const word of ["deliverable", "mailbox_full", "dns_timeout", "insufficient_credits"]) {
  console.log(word, "gives", await ask(`${word}@sandbox.test`));
}
