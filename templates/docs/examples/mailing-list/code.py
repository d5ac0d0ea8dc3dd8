import hashlib
import json
import os
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

LIST = "newsletter-2026-12"
EMAILS = [
    "deliverable@sandbox.test",
    "disposable@sandbox.test",
    "possible_typo@sandbox.test",
    "mailbox_not_found@sandbox.test",
    "dns_timeout@sandbox.test",
]


def validate(email):
    """Return the result. Waits if the rate limit is exceeded."""
    request = urllib.request.Request(
        "{{ base_url }}/v1/validate",
        data=json.dumps({"email": email}).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
            "Content-Type": "application/json",
            # Stays the same if you restart the script, so you don't pay twice.
            "Idempotency-Key": hashlib.sha256(f"{LIST} {email}".encode()).hexdigest(),
        },
    )
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code != 429:
                raise
            time.sleep(int(error.headers["Retry-After"]))


def choose_action(verdict, reason):
    if verdict == "unknown":
        return "retry later"
    if verdict == "undeliverable" or reason in ("disposable", "no_reply"):
        return "remove"
    return "confirm" if reason == "possible_typo" else "send"


with ThreadPoolExecutor(max_workers=4) as pool:
    for result in pool.map(validate, EMAILS):
        print(choose_action(result["verdict"], result["reason"]), result["email"])
