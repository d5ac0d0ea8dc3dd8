const api = "{{ base_url }}/v1";

async function post(path, body) {
  const response = await fetch(api + path, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${process.env.SVC_API_KEY}`,
      "Content-Type": "application/json",
    },
    body: JSON.stringify(body),
  });
  return response.json();
}

const result = await post("/validate", { email: "deliverable@sandbox.test" });
const feedback = await post(`/validations/${result.id}/feedback`, {
  expected: "undeliverable",
  bounce: "550 5.1.1 Mailbox does not exist",
});

console.log("State:", feedback.state);
