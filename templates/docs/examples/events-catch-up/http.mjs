async function readEvents(after) {
  const query = new URLSearchParams({ after, limit: "100" });
  const response = await fetch(`{{ base_url }}/v1/events?${query}`, {
    headers: { Authorization: `Bearer ${process.env.SVC_API_KEY}` },
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) {
    throw new Error(await response.text());
  }
  return response.json();
}

function handle(event) {
  if (event.type === "credits.low") {
    console.log("Credits left:", event.data.balance);
  } else if (event.type === "list.completed") {
    console.log("List completed:", event.data.id);
  }
}

// The ID of the last event that you handled. Empty: start with the oldest.
let lastId = "";
let hasMore = true;
while (hasMore) {
  const page = await readEvents(lastId);
  hasMore = page.has_more;
  for (const event of page.data) {
    handle(event);
    lastId = event.id; // Store it.
  }
}
