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
const first = await response.text();

const again = await fetch(`${api}/validations/${JSON.parse(first).id}`, { headers });

console.log((await again.text()) === first ? "Same result" : "Different result");
