import json
import os
import urllib.error
import urllib.request


def ask(email):
    """The verdict, or the error's code."""
    request = urllib.request.Request(
        "{{ base_url }}/v1/validate",
        data=json.dumps({"email": email}).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
            "Content-Type": "application/json",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)["verdict"]
    except urllib.error.HTTPError as refusal:
        return json.load(refusal)["error"]["code"]


for word in ("deliverable", "mailbox_full", "dns_timeout", "insufficient_credits"):
    print(word, "gives", ask(f"{word}@sandbox.test"))
