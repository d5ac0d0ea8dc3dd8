import json
import os
import urllib.request

request = urllib.request.Request(
    "{{ base_url }}/v1/usage",
    headers={"Authorization": "Bearer " + os.environ["SVC_API_KEY"]},
)
with urllib.request.urlopen(request, timeout=10) as response:
    days = json.load(response)["days"]

print("Days:", len(days))
print("Credits:", sum(day["credits"] for day in days))
