import json
import os
import urllib.request
import uuid


def validate_batch(emails):
    request = urllib.request.Request(
        "{{ base_url }}/v1/validate/batch",
        data=json.dumps({"emails": emails}).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),
        },
    )
    with urllib.request.urlopen(request, timeout=15) as response:
        return json.load(response)


batch = validate_batch(["deliverable@sandbox.test", "undeliverable@sandbox.test"])
for result in batch["results"]:
    print(result["email"], result["verdict"])
print("Cost:", batch["credits"]["charged"])
