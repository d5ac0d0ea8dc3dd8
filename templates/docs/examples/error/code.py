import json
import os
import urllib.error
import urllib.request

request = urllib.request.Request(
    "{{ base_url }}/v1/validate",
    data=json.dumps({"email": "insufficient_credits@sandbox.test"}).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
        "Content-Type": "application/json",
    },
)
try:
    with urllib.request.urlopen(request, timeout=10) as response:
        print(json.load(response)["verdict"])
except urllib.error.HTTPError as failure:
    error = json.load(failure)["error"]
    print(failure.code, error["code"])
    print(error["message"])
