"""Make calls with several threads, and print their outcomes: `… CALLS DEADLINE`."""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from emailvalidation import Client, EmailValidationError

calls, deadline = int(sys.argv[1]), float(sys.argv[2])
client = Client(timeout=deadline)


def call(number: int) -> dict[str, object]:
    # Invalid syntax costs a credit, too, and needs no DNS.
    outcome: dict[str, object] = {"address": f"python {calls} {number}", "result": "", "error": ""}
    start = time.monotonic()
    try:
        outcome["result"] = client.validate(f"python {calls} {number}").id
    except EmailValidationError as error:
        outcome["error"] = type(error).__name__
    return {**outcome, "seconds": time.monotonic() - start}


with ThreadPoolExecutor(32) as pool:
    for outcome in pool.map(call, range(calls)):
        print(json.dumps(outcome))
