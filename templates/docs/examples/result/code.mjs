const api = "{{ base_url }}/v1";
const headers = {
  Authorization: `Bearer ${process.env.SVC_API_KEY}`,
  "Content-Type": "application/json",
};

const response = await fetch(`${api}/validate`, {
  method: "POST",
  headers,
  body: JSON.stringify({ email: "deliverable@sandbox.test" }),
});
const first = await response.json();

const again = await fetch(`${api}/validations/${first.id}`, { headers });

console.log((await again.json()).verdict);
