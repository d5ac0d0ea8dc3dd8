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
    """The answer; waits where the limit says so."""
    request = urllib.request.Request(
        "{{ base_url }}/v1/validate",
        data=json.dumps({"email": email}).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
            "Content-Type": "application/json",
            # The same when the program is started again: nothing is paid twice.
            "Idempotency-Key": hashlib.sha256(f"{LIST} {email}".encode()).hexdigest(),
        },
    )
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            if refusal.code != 429:
                raise
            time.sleep(int(refusal.headers["Retry-After"]))


def what_to_do(verdict, reason):
    if verdict == "unknown":
        return "ask again"
    if verdict == "undeliverable" or reason in ("disposable", "no_reply"):
        return "take off"
    return "ask them" if reason == "possible_typo" else "send"


with ThreadPoolExecutor(max_workers=4) as callers:
    for result in callers.map(validate, EMAILS):
        print(what_to_do(result["verdict"], result["reason"]), result["email"])
