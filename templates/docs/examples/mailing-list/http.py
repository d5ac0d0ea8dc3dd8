import csv
import io
import json
import os
import urllib.request

FILE = b"""id,email
1,deliverable@sandbox.test
2,disposable@sandbox.test
3,possible_typo@sandbox.test
4,mailbox_not_found@sandbox.test
5,role_account@sandbox.test
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
        return response.read().decode("utf-8-sig")


def wait_for(list_id):
    """Return the list once each address has a result. It starts as soon as it is parsed."""
    while True:
        current = json.loads(call("GET", f"/{list_id}?wait=20"))
        if current["results_at"]:
            return current
        # For example, the credits may not be enough to start it.
        if current["error"]:
            raise SystemExit(current["error"]["message"])


def choose_action(verdict, reason):
    if verdict == "undeliverable" or reason in ("disposable", "no_reply"):
        return "suppress"
    if reason == "possible_typo":
        return "ask"
    # Rows without an address have no verdict.
    return "send" if verdict in ("deliverable", "risky") else "keep"


uploaded = json.loads(call("POST", "?name=newsletter.csv&start=true", FILE, "text/csv"))
checked = wait_for(uploaded["id"])
rows = csv.DictReader(io.StringIO(call("GET", f"/{uploaded['id']}/download")))
for row in rows:
    print(choose_action(row["ev_verdict"], row["ev_reason"]), row["id"], row["email"])
print("Credits charged:", checked["credits"]["charged"])
