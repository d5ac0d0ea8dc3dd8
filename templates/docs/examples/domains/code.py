import json
import os
import urllib.request

domains = {
    "allowed": ["partner.example"],
    "denied": ["Spam.example", "bücher.example"],
}
request = urllib.request.Request(
    "{{ base_url }}/v1/domains",
    method="PUT",
    data=json.dumps(domains).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request, timeout=10) as response:
    stored = json.load(response)

print("Denied:", ", ".join(stored["denied"]))
