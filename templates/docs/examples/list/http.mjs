const file = `name,email
Jane,deliverable@sandbox.test
Joe,undeliverable@sandbox.test
Jane again,deliverable@sandbox.test
`;

async function call(method, path, body, contentType = "application/json") {
  const response = await fetch(`{{ base_url }}/v1/lists${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${process.env.SVC_API_KEY}`,
      "Content-Type": contentType,
    },
    body,
    signal: AbortSignal.timeout(60_000),
  });
  if (!response.ok) {
    throw new Error(await response.text());
  }
  return response;
}

// Returns the list once it has another state.
async function waitWhile(id, ...states) {
  while (true) {
    const current = await (await call("GET", `/${id}?wait=20`)).json();
    if (!states.includes(current.state)) {
      return current;
    }
  }
}

const { id } = await (await call("POST", "?name=customers.csv", file, "text/csv")).json();
await waitWhile(id, "parsing");

await call("POST", `/${id}/start`);
const checked = await waitWhile(id, "queued", "running");
console.log("State:", checked.state);
console.log(await (await call("GET", `/${id}/download?filter=deliverable`)).text());
