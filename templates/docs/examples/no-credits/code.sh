curl {{ base_url }}/v1/validate \
  -H "Authorization: Bearer $SVC_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"email": "insufficient_credits@sandbox.test"}'
