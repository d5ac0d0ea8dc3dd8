curl {{ base_url }}/v1/validate \
  -H "Authorization: Bearer $SVC_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"email": "possible_typo@sandbox.test"}'
