const response = await fetch("{{ base_url }}/v1/webhooks", {
  method: "POST",
  headers: {
    Authorization: `Bearer ${process.env.SVC_API_KEY}`,
    "Content-Type": "application/json",
  },
  body: JSON.stringify({
    url: "https://hooks.shop.example/validation",
    types: ["list.completed", "credits.low"],
  }),
  signal: AbortSignal.timeout(10_000),
});
if (!response.ok) {
  throw new Error(await response.text());
}
const created = await response.json();

const secret = created.secret; // Store it where your server reads it.
console.log("State:", created.state);
