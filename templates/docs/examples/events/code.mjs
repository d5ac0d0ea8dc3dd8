const response = await fetch("{{ base_url }}/v1/events?type=credits.low&limit=1", {
  headers: { Authorization: `Bearer ${process.env.SVC_API_KEY}` },
});
const page = await response.json();

for (const event of page.data) {
  console.log(event.type, event.data.balance);
}
