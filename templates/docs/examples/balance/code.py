import json
import os
import urllib.request

request = urllib.request.Request(
    "{{ base_url }}/v1/credits",
    headers={"Authorization": "Bearer " + os.environ["SVC_API_KEY"]},
)
with urllib.request.urlopen(request, timeout=10) as response:
    credits = json.load(response)

print("Balance:", credits["balance"])
if credits["balance"] <= credits["low_balance_threshold"]:
    print("Running low. Buy credits soon.")
