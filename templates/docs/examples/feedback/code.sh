RESULT=$(curl --silent {{ base_url }}/v1/validate \
  -H "Authorization: Bearer $SVC_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"email": "deliverable@sandbox.test"}' | grep -o 'val_[0-9A-Z]*')

curl {{ base_url }}/v1/validations/$RESULT/feedback \
  -H "Authorization: Bearer $SVC_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"expected": "undeliverable", "bounce": "550 5.1.1 Mailbox does not exist"}'
