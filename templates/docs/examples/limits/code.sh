curl --silent --dump-header - --output /dev/null {{ base_url }}/v1/me \
  -H "Authorization: Bearer $SVC_API_KEY"
