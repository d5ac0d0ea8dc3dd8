curl {{ base_url }}/v1/validate \
  -H "Authorization: Bearer $SVC_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"email": "mailbox_full+1@sandbox.test"}'
