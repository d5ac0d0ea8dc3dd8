"""Raise the error that `<error code>@sandbox.test` selects, with its headers."""

from apikeys.errors import REFUSALS, SAMPLE_PARAMS, ApiError, unauthorized, unavailable
from apikeys.throttling.limits import BucketState
from apikeys.throttling.throttles import rate_limit_exceeded
from credits.wallet.charges import insufficient_credits
from validation.engine.sandbox import sandbox_word


def raise_sandbox_error(email: str, usage: BucketState | None) -> None:
    """Raise the error, if the address selects one. `usage` is shown by rate_limit_exceeded."""
    code = sandbox_word(email)
    if code in REFUSALS:
        raise _simulate_error(code, usage)


def _simulate_error(code: str, usage: BucketState | None) -> ApiError:
    error = _build_error(code, usage)
    error.is_sandbox = True
    return error


def _build_error(code: str, usage: BucketState | None) -> ApiError:
    if code == "rate_limit_exceeded" and usage is not None:
        return rate_limit_exceeded(usage)
    if REFUSALS[code].status == 401:
        return unauthorized(code)
    errors = {
        "insufficient_credits": insufficient_credits(required=1, balance=0),
        "service_unavailable": unavailable(),
        "method_not_allowed": ApiError(code, headers={"Allow": "POST"}),
    }
    return errors.get(code) or ApiError(code, param=SAMPLE_PARAMS.get(code))
