curl -X PUT {{ base_url }}/v1/domains \
  -H "Authorization: Bearer $SVC_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "allowed": ["partner.example"],
    "denied": ["Spam.example", "bücher.example"]
  }'
