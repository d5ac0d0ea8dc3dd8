"""What each method does, as steps: written once for the synchronous and the asynchronous client."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import (
    Any,
    Optional,
    TypeVar,
)

from emailvalidation._calls import Deadline, Pause, Step, build_request, run_call
from emailvalidation.errors import EmailValidationError, InvalidRequestError
from emailvalidation.types import BatchResult, Result

T = TypeVar("T")
Flow = Generator[Step, Any, T]

BATCH_SIZE = 100
BATCH_TIMEOUT = 120.0
SIGN_UP_TIMEOUT = 3.0
MAX_EMAIL_LENGTH = 320
# The API's own, in seconds.
MAILBOX_TIMEOUT = 10
REFUSED = "Please enter an email address that can receive mail."
# As in `"account";r=57;t=12`: the requests and the seconds that are left.
_RATE_LIMIT = re.compile(r";\s*r=(\d+);\s*t=(\d+)")


@dataclass(frozen=True)
class SignUpCheck:
    """Whether a form should accept an address, and what to show. It never names mailboxes."""

    accept: bool
    # The address that was probably meant.
    suggestion: Optional[str] = None
    # For the form, if the address isn't accepted. Also an English sentence for a suggestion.
    message: Optional[str] = None
    # Why the address wasn't checked, and therefore accepted.
    failure: Optional[EmailValidationError] = field(default=None, compare=False)


def check_options(check: Optional[str], timeout_s: Optional[float]) -> dict[str, Any]:
    options = {"check": check, "timeout_s": timeout_s}
    return {name: value for name, value in options.items() if value is not None}


def time_for(
    check: Optional[str], timeout_s: Optional[float], timeout: Optional[float]
) -> Optional[float]:
    """Return the time of a call: a mailbox check needs enough for one try of `timeout_s`."""
    if timeout is not None or check != "mailbox":
        return timeout
    return 30 + 2.5 * (timeout_s or MAILBOX_TIMEOUT)


def validate(
    deadline: Deadline,
    email: str,
    check: Optional[str],
    timeout_s: Optional[float],
    idempotency_key: Optional[str],
) -> Flow[Result]:
    body = {"email": email, **check_options(check, timeout_s)}
    response = yield from run_call(
        build_request("POST", "/v1/validate", json_body=body, idempotency_key=idempotency_key),
        deadline,
    )
    return Result.from_json(response.data)


class Pace:
    """What the last response said about the rate limit, to wait before a request is refused."""

    def __init__(self) -> None:
        self.size = BATCH_SIZE
        self._left: Optional[int] = None
        self._ends = 0.0

    def note(self, headers: Mapping[str, str]) -> None:
        found = _RATE_LIMIT.search(headers.get("ratelimit", ""))
        self._left = int(found[1]) if found else None
        self._ends = time.monotonic() + int(found[2]) if found else 0.0

    def pause_before(self, count: int) -> float:
        if self._left is None or self._left >= count:
            return 0.0
        return max(0.0, self._ends - time.monotonic())


def validate_batch(
    emails: Sequence[str], check: Optional[str], timeout: float, pace: Pace
) -> Flow[list[BatchResult]]:
    """Validate up to 100 addresses, or in smaller parts if the rate limit is lower than that."""
    results: list[BatchResult] = []
    rest = list(emails)
    while rest:
        part = rest[: pace.size]
        if pause := pace.pause_before(len(part)):
            yield Pause(pause)
        request = build_request(
            "POST", "/v1/validate/batch", json_body={"emails": part, **check_options(check, None)}
        )
        try:
            response = yield from run_call(request, Deadline(timeout))
        except InvalidRequestError as error:
            limit = error.details.get("limit")
            if error.code != "batch_larger_than_limit" or not isinstance(limit, int) or limit < 1:
                raise
            pace.size = min(limit, len(part) - 1)
            continue
        pace.note(response.headers)
        results += [BatchResult.from_json(one) for one in response.data["results"]]
        rest = rest[len(part) :]
    return results


def describe_for_form(result: Result) -> SignUpCheck:
    # Don't reveal to visitors whether a mailbox exists.
    # A response without a decision isn't a refusal.
    if result.accept_for_signup is False and result.evidence != "smtp":
        message = result.syntax_error.message if result.syntax_error else REFUSED
        return SignUpCheck(accept=False, suggestion=result.did_you_mean, message=message)
    if result.did_you_mean:
        message = f"Did you mean {result.did_you_mean}?"
        return SignUpCheck(accept=True, suggestion=result.did_you_mean, message=message)
    return SignUpCheck(accept=True)


def refuse_at_once(email: str) -> Optional[SignUpCheck]:
    """Return the answer for what the API would refuse to look at."""
    if isinstance(email, str) and 0 < len(email) <= MAX_EMAIL_LENGTH:
        return None
    return SignUpCheck(accept=False, message=REFUSED)


def chunks(emails: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(emails)
    while chunk := list(islice(rest, BATCH_SIZE)):
        yield chunk
