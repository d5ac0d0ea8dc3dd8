import json
import os
import urllib.request

request = urllib.request.Request(
    "{{ base_url }}/v1/me",
    headers={"Authorization": "Bearer " + os.environ["SVC_API_KEY"]},
)
with urllib.request.urlopen(request, timeout=10) as answer:
    me = json.load(answer)

print("This key works, on the plan", me["plan"])
