import json
import os
import urllib.request


def check_sign_up(email):
    """Whether to let the address in, and what to suggest beside it."""
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
            result = json.load(answer)
    except (OSError, ValueError):
        # An error, or no answer: nobody is kept out for that.
        return True, None
    return result["accept_for_signup"], result["did_you_mean"]


is_let_in, suggestion = check_sign_up("possible_typo@sandbox.test")
if suggestion:
    print(f"Did you mean {suggestion}?")
print("Welcome." if is_let_in else "Please use another address.")
