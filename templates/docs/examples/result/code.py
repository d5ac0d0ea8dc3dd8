import json
import os
import urllib.request

API = "{{ base_url }}/v1"
HEADERS = {
    "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
    "Content-Type": "application/json",
}


def send(path, body=None):
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(API + path, data, HEADERS)
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


first = send("/validate", {"email": "deliverable@sandbox.test"})
again = send("/validations/" + first["id"])

print(again["verdict"])
