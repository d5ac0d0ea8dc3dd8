import json
import os
import urllib.request

request = urllib.request.Request(
    "{{ base_url }}/v1/validate",
    data=json.dumps({"email": "possible_typo@sandbox.test"}).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request, timeout=10) as response:
    result = json.load(response)

print(result["verdict"], result["reason"])
print("Did you mean", result["did_you_mean"] + "?")
