// Whether to let the address in, and what to suggest beside it.
export async function checkSignUp(email) {
  try {
    const answer = await fetch("{{ base_url }}/v1/validate", {
      method: "POST",
      headers: {
        Authorization: `Bearer ${process.env.SVC_API_KEY}`,
        "Content-Type": "application/json",
      },
      body: JSON.stringify({ email }),
      signal: AbortSignal.timeout(10_000),
    });
    if (answer.ok) {
      const result = await answer.json();
      return [result.accept_for_signup, result.did_you_mean];
    }
  } catch {
    // No answer, as with an error: nobody is kept out for that.
  }
  return [true, null];
}

const [isLetIn, suggestion] = await checkSignUp("possible_typo@sandbox.test");
if (suggestion) {
  console.log(`Did you mean ${suggestion}?`);
}
console.log(isLetIn ? "Welcome." : "Please use another address.");
