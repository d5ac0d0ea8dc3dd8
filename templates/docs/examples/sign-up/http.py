import json
import os
import urllib.request


def check_sign_up(email):
    """Return whether to accept the address, and a suggestion to show."""
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
            result = json.load(response)
    except (OSError, ValueError):
        # An error or a timeout must not block a sign-up.
        return True, None
    return result["accept_for_signup"], result["did_you_mean"]


is_accepted, suggestion = check_sign_up("possible_typo@sandbox.test")
if suggestion:
    print(f"Did you mean {suggestion}?")
print("Welcome." if is_accepted else "Please use another address.")
