function call(method, headers, domains) {
  return fetch("{{ base_url }}/v1/domains", {
    method,
    headers: {
      Authorization: `Bearer ${process.env.SVC_API_KEY}`,
      "Content-Type": "application/json",
      ...headers,
    },
    body: domains && JSON.stringify(domains),
    signal: AbortSignal.timeout(10_000),
  });
}

// Adds a domain, and keeps what other programs have changed.
async function deny(domain) {
  let response;
  do {
    const current = await call("GET");
    const domains = await current.json();
    if (domains.denied.includes(domain)) {
      return;
    }
    domains.denied.push(domain);
    response = await call("PUT", { "If-Match": current.headers.get("ETag") }, domains);
    // 412: the lists were changed since they were read.
  } while (response.status === 412);
  if (!response.ok) {
    throw new Error(await response.text());
  }
}

await deny("spam.example");
console.log("spam.example is denied");
