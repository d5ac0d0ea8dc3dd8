import json
import os
import urllib.error
import urllib.request


def validate(email):
    """Return the verdict or the error code."""
    request = urllib.request.Request(
        "{{ base_url }}/v1/validate",
        data=json.dumps({"email": email}).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
            "Content-Type": "application/json",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)["verdict"]
    except urllib.error.HTTPError as error:
        return json.load(error)["error"]["code"]


for word in ("deliverable", "mailbox_full", "dns_timeout", "insufficient_credits"):
    print(f"{word}:", validate(f"{word}@sandbox.test"))
