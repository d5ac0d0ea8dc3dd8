const answer = await fetch("{{ base_url }}/v1/me", {
  headers: { Authorization: `Bearer ${process.env.SVC_API_KEY}` },
  signal: AbortSignal.timeout(10_000),
});
const me = await answer.json();

console.log("This key works, on the plan", me.plan);
