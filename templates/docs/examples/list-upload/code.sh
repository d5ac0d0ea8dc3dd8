curl "{{ base_url }}/v1/lists?name=customers.csv" \
  -H "Authorization: Bearer $SVC_API_KEY" \
  -H "Content-Type: text/csv" \
  --data-binary 'name,email
Jane,deliverable@sandbox.test
Joe,undeliverable@sandbox.test
'
