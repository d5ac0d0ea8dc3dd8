const response = await fetch("{{ base_url }}/v1/me", {
  headers: { Authorization: `Bearer ${process.env.SVC_API_KEY}` },
  signal: AbortSignal.timeout(10_000),
});
const me = await response.json();

console.log("The key works. Plan:", me.plan);
