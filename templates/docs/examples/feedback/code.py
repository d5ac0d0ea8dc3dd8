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


result = send("/validate", {"email": "deliverable@sandbox.test"})
feedback = send(
    "/validations/" + result["id"] + "/feedback",
    {"expected": "undeliverable", "bounce": "550 5.1.1 Mailbox does not exist"},
)

print("State:", feedback["state"])
