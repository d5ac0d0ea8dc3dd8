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
    with urllib.request.urlopen(request, timeout=10) as answer:
        print(json.load(answer)["verdict"])
except urllib.error.HTTPError as refusal:
    error = json.load(refusal)["error"]
    print(refusal.code, error["code"])
    print(error["message"])
