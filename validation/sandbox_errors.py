"""Raise the error that `<error code>@sandbox.test` selects, with its headers."""

from dataclasses import replace
from typing import Any

from apikeys.errors import REFUSALS, SAMPLE_PARAMS, ApiError, unauthorized, unavailable
from apikeys.request import ApiHttpRequest
from apikeys.rest.view import rate_limit_exceeded
from credits.wallet.charges import insufficient_credits
from validation.engine.sandbox import sandbox_word


def raise_sandbox_error(request: ApiHttpRequest, email: str) -> None:
    code = sandbox_word(email)
    if code in REFUSALS:
        request.is_sandbox = True
        raise _build_error(code, request)


def _build_error(code: str, request: ApiHttpRequest) -> ApiError:
    if code == "rate_limit_exceeded":
        request.usage = request.usage and replace(request.usage, remaining=0)
        return rate_limit_exceeded(request)
    errors: dict[str, Any] = {
        "insufficient_credits": insufficient_credits(required=1, balance=0),
        "service_unavailable": unavailable(),
        "method_not_allowed": ApiError(code, headers={"Allow": "POST"}),
    }
    if REFUSALS[code].status == 401:
        return unauthorized(code)
    return errors.get(code) or ApiError(code, param=SAMPLE_PARAMS.get(code))
