// Returns whether to accept the address, and a suggestion to show.
export async function checkSignUp(email) {
  try {
    const response = await fetch("{{ base_url }}/v1/validate", {
      method: "POST",
      headers: {
        Authorization: `Bearer ${process.env.SVC_API_KEY}`,
        "Content-Type": "application/json",
      },
      body: JSON.stringify({ email }),
      signal: AbortSignal.timeout(10_000),
    });
    if (response.ok) {
      const result = await response.json();
      return [result.accept_for_signup, result.did_you_mean];
    }
  } catch {
    // An error or a timeout must not block a sign-up.
  }
  return [true, null];
}

const [isAccepted, suggestion] = await checkSignUp("possible_typo@sandbox.test");
if (suggestion) {
  console.log(`Did you mean ${suggestion}?`);
}
console.log(isAccepted ? "Welcome." : "Please use another address.");
