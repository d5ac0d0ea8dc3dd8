import json
import os
import urllib.request


def validate(email):
    request = urllib.request.Request(
        "{{ base_url }}/v1/validate",
        data=json.dumps({"email": email}).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


result = validate("disposable@sandbox.test")
print(result["verdict"], result["reasons"][0], result["score"])
print("Cost:", result["credits"]["charged"])
