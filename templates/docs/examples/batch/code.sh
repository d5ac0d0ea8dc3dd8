curl {{ base_url }}/v1/validate/batch \
  -H "Authorization: Bearer $SVC_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"emails": [
    "deliverable@sandbox.test",
    "undeliverable@sandbox.test",
    "deliverable@sandbox.test"
  ]}'
