const response = await fetch("{{ base_url }}/v1/domains", {
  method: "PUT",
  headers: {
    Authorization: `Bearer ${process.env.SVC_API_KEY}`,
    "Content-Type": "application/json",
  },
  body: JSON.stringify({
    allowed: ["partner.example"],
    denied: ["Spam.example", "bücher.example"],
  }),
  signal: AbortSignal.timeout(10_000),
});
if (!response.ok) {
  throw new Error(await response.text());
}
const stored = await response.json();

console.log("Denied:", stored.denied.join(", "));
