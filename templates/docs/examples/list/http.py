import json
import os
import urllib.request

FILE = b"""name,email
Jane,deliverable@sandbox.test
Joe,undeliverable@sandbox.test
Jane again,deliverable@sandbox.test
"""


def call(method, path, body=None, content_type="application/json"):
    request = urllib.request.Request(
        "{{ base_url }}/v1/lists" + path,
        method=method,
        data=body,
        headers={
            "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
            "Content-Type": content_type,
        },
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        return response.read().decode()


def wait_while(list_id, *states):
    """Return the list once it has another state."""
    while True:
        current = json.loads(call("GET", f"/{list_id}?wait=20"))
        if current["state"] not in states:
            return current


list_id = json.loads(call("POST", "?name=customers.csv", FILE, "text/csv"))["id"]
wait_while(list_id, "parsing")

call("POST", f"/{list_id}/start")
checked = wait_while(list_id, "queued", "running")
print("State:", checked["state"])
print(call("GET", f"/{list_id}/download?filter=deliverable").lstrip("\ufeff"))
