for attempt in 1 2; do
  curl --silent --dump-header - --output /dev/null {{ base_url }}/v1/validate \
    -H "Authorization: Bearer $SVC_API_KEY" \
    -H "Content-Type: application/json" \
    -H "Idempotency-Key: sign-up-1047" \
    -d '{"email": "deliverable@sandbox.test"}'
done
