import json
import os
import urllib.request

webhook = {
    "url": "https://hooks.shop.example/validation",
    "types": ["list.completed", "credits.low"],
}
request = urllib.request.Request(
    "{{ base_url }}/v1/webhooks",
    data=json.dumps(webhook).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request, timeout=10) as response:
    created = json.load(response)

secret = created["secret"]  # Store it where your server reads it.
print("State:", created["state"])
