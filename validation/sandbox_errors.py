"""Raise the error that `<error code>@sandbox.test` selects."""

from apikeys.errors import REFUSALS, ApiError, unauthorized, unavailable
from apikeys.throttling.limits import BucketState
from apikeys.throttling.throttles import rate_limit_exceeded
from credits.models import Wallet
from credits.wallet.charges import insufficient_credits
from engine import sandbox_word


def raise_sandbox_error(email: str, usage: BucketState | None) -> None:
    code = sandbox_word(email)
    if code in REFUSALS:
        # A variable for the error would be a reference cycle.
        raise _build_error(code, usage)


def _build_error(code: str, usage: BucketState | None) -> ApiError:
    errors: dict[str, ApiError] = {
        "insufficient_credits": insufficient_credits(Wallet(), required=1),
        "service_unavailable": unavailable(),
        "method_not_allowed": ApiError(code, headers={"Allow": "POST"}),
    }
    error = errors.get(code) or ApiError(code, param=REFUSALS[code].param)
    if REFUSALS[code].status == 401:
        error = unauthorized(code)
    elif code == "rate_limit_exceeded" and usage is not None:
        error = rate_limit_exceeded(usage)
    error.is_sandbox = True
    return error
