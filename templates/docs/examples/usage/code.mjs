const response = await fetch("{{ base_url }}/v1/usage", {
  headers: { Authorization: `Bearer ${process.env.SVC_API_KEY}` },
  signal: AbortSignal.timeout(10_000),
});
const { days } = await response.json();

console.log("Days:", days.length);
console.log("Credits:", days.reduce((sum, day) => sum + day.credits, 0));
