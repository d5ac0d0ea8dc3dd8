import json
import os
import urllib.request
import uuid

request = urllib.request.Request(
    "{{ base_url }}/v1/validate",
    data=json.dumps({"email": "deliverable@sandbox.test"}).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),
    },
)
with urllib.request.urlopen(request, timeout=10) as response:
    first = response.read()
with urllib.request.urlopen(request, timeout=10) as response:
    again = response.read()
    print("Idempotent-Replayed:", response.headers["Idempotent-Replayed"])

print("Same response" if again == first else "Different response")
