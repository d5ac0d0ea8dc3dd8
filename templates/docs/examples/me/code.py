import json
import os
import urllib.request

request = urllib.request.Request(
    "{{ base_url }}/v1/me",
    headers={"Authorization": "Bearer " + os.environ["SVC_API_KEY"]},
)
with urllib.request.urlopen(request, timeout=10) as response:
    me = json.load(response)

print("The key works. Plan:", me["plan"])
