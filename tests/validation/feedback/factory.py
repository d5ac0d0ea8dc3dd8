"""Results, and feedback on them."""

from typing import Any

import orjson

from accounts.models import Account
from apikeys.actor import Actor
from validation.feedback.services import send_feedback
from validation.models import Feedback
from validation.services import validate
from validation.validations import Caller

NO_ADDRESS = "no address"


def make_result(account: Account, email: str = NO_ADDRESS) -> dict[str, Any]:
    """Validate an address as the playground does, without the DNS."""
    caller = Caller(account, None, "req_00000000000000000001")
    response = validate(caller=caller, email=email, idempotency_key=None)
    result: dict[str, Any] = orjson.loads(response.body)
    return result


def make_feedback(
    account: Account, email: str = NO_ADDRESS, expected: str = "deliverable", **sender: Any
) -> Feedback:
    texts = {"comment": "I know them", "bounce": "550 no such user"}
    result = make_result(account, email)
    return send_feedback(sender=Actor(account, **sender), result=result, expected=expected, **texts)
