import json
import os
import time
import urllib.error
import urllib.request
import uuid


def validate(email, tries=5):
    """Return the result. Retries, but pays only once."""
    request = urllib.request.Request(
        "{{ base_url }}/v1/validate",
        data=json.dumps({"email": email}).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),
        },
    )
    tried = 0
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return json.load(response)
        except OSError as failure:
            seconds = seconds_to_wait(failure, tried)
            tried += 1
            if seconds is None or tried == tries:
                raise
        time.sleep(seconds)


def seconds_to_wait(failure, tried):
    """Return None if a retry would get the same response."""
    status = getattr(failure, "code", None)
    if status == 429:
        return int(failure.headers["Retry-After"])
    if status == 503:
        return json.load(failure)["error"]["details"]["retry_after"]
    return 2**tried if status in (None, 500) else None


print(validate("risky@sandbox.test")["verdict"])
