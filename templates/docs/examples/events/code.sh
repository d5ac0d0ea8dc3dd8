curl "{{ base_url }}/v1/events?type=credits.low&limit=1" \
  -H "Authorization: Bearer $SVC_API_KEY"
