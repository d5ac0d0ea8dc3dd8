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
with urllib.request.urlopen(request, timeout=10) as answer:
    first = answer.read()
with urllib.request.urlopen(request, timeout=10) as answer:
    again = answer.read()
    print("Idempotent-Replayed:", answer.headers["Idempotent-Replayed"])

print("The same" if again == first else "Another answer")
