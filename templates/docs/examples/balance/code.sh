curl {{ base_url }}/v1/credits \
  -H "Authorization: Bearer $SVC_API_KEY"
