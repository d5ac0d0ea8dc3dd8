import json
import os
import urllib.request

request = urllib.request.Request(
    "{{ base_url }}/v1/events?type=credits.low&limit=1",
    headers={"Authorization": "Bearer " + os.environ["SVC_API_KEY"]},
)
with urllib.request.urlopen(request, timeout=10) as response:
    page = json.load(response)

for event in page["data"]:
    print(event["type"], event["data"]["balance"])
