curl "{{ base_url }}/v1/usage?from=2026-11-20&to=2026-11-20" \
  -H "Authorization: Bearer $SVC_API_KEY"
