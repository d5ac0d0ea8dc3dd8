curl {{ base_url }}/v1/webhooks \
  -H "Authorization: Bearer $SVC_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "url": "https://hooks.shop.example/validation",
    "types": ["list.completed", "credits.low"]
  }'
