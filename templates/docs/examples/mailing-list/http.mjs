const FILE = `id,email
1,deliverable@sandbox.test
2,disposable@sandbox.test
3,possible_typo@sandbox.test
4,mailbox_not_found@sandbox.test
5,role_account@sandbox.test
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

// Returns the list once each address has a result. It starts as soon as it is parsed.
async function waitFor(id) {
  for (;;) {
    const current = await (await call("GET", `/${id}?wait=20`)).json();
    if (current.results_at) {
      return current;
    }
    // For example, the credits may not be enough to start it.
    if (current.error) {
      throw new Error(current.error.message);
    }
  }
}

function chooseAction(verdict, reason) {
  if (verdict === "undeliverable" || ["disposable", "no_reply"].includes(reason)) {
    return "suppress";
  }
  if (reason === "possible_typo") {
    return "ask";
  }
  // Rows without an address have no verdict.
  return ["deliverable", "risky"].includes(verdict) ? "send" : "keep";
}

const { id } = await (await call("POST", "?name=newsletter.csv&start=true", FILE, "text/csv")).json();
const checked = await waitFor(id);
const lines = (await (await call("GET", `/${id}/download?format=jsonl`)).text()).trim().split("\n");
for (const row of lines.map((line) => JSON.parse(line))) {
  console.log(chooseAction(row.result?.verdict, row.result?.reason), ...row.cells);
}
console.log("Credits charged:", checked.credits.charged);
