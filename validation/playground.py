"""The same validation as the API's, asked by somebody in the dashboard: it spends the account's
requests and credits, and is booked without a key."""

import json
from dataclasses import dataclass
from typing import Any, cast

import orjson

from accounts.models import Account
from accounts.request import AccountRequest
from apikeys.errors import ApiError
from apikeys.request import ApiHttpRequest
from apikeys.rest.responses import JSON, rate_limit_headers
from apikeys.rest.view import rate_limit_exceeded
from apikeys.throttling import limits, refusal_counts
from credits.wallet.charges import balance_of, insufficient_credits
from runtime.unicode import INVISIBLE
from validation import services
from validation.engine.meanings import MEANINGS, Meaning
from validation.request_log.writer import Caller
from validation.sandbox_errors import raise_sandbox_error
from validation.serializers import CHECK_MEANINGS
from validation.settlement import ValidationResponse


@dataclass(frozen=True)
class Trial:
    """An answer of the API, as a page shows it."""

    email: str
    status: int
    headers: dict[str, str]
    document: dict[str, Any]

    @property
    def result(self) -> dict[str, Any] | None:
        return self.document if self.status == 200 else None

    @property
    def error(self) -> dict[str, Any] | None:
        return self.document.get("error")

    @property
    def reasons(self) -> list[tuple[str, Meaning]]:
        return [(code, MEANINGS[code]) for code in self.document["reasons"]]

    @property
    def checks(self) -> list[tuple[str, str, bool | None]]:
        given = self.document["checks"]
        return [(name, meaning, given[name]) for name, meaning in CHECK_MEANINGS.items()]

    @property
    def text(self) -> str:
        """The same document, with what nobody can see written as JSON can."""
        text = json.dumps(self.document, indent=2, ensure_ascii=False)
        return INVISIBLE.sub(lambda found: json.dumps(found[0])[1:-1], text)


def run_trial(request: AccountRequest, email: str) -> Trial:
    api_request = cast(ApiHttpRequest, request)
    api_request.is_sandbox = False
    api_request.usage = limits.consume(request, limits.account_bucket(request.account))
    try:
        answer = _answer(api_request, request.account, email)
    except ApiError as error:
        status, body, own = error.status, error.body(request.id), error.headers
        if not api_request.is_sandbox:
            refusal_counts.count_refusal(request.account.pk, None, error.code)
    else:
        status, body = 200, answer.body
        own = {"X-Credits-Cost": str(answer.cost), "X-Credits-Remaining": str(answer.balance)}
        # The page shows it as well, and was read before.
        request.account.wallet.balance = answer.balance
    headers = {
        "Content-Type": JSON,
        **own,
        **rate_limit_headers(api_request.usage, status),
        "X-Request-Id": request.id,
    }
    return Trial(email, status, headers, orjson.loads(body))


def _answer(request: ApiHttpRequest, account: Account, email: str) -> ValidationResponse:
    """In the order in which the API judges."""
    if request.usage is not None and request.usage.refused:
        raise rate_limit_exceeded(request)
    if account.suspended_at is not None:
        raise ApiError("account_suspended")
    price, balance = services.price_of(email), balance_of(account)
    if price > balance:
        raise insufficient_credits(required=price, balance=balance)
    raise_sandbox_error(request, email)
    asker = Caller(account, None, request.id)
    return services.validate(asker=asker, email=email, idempotency_key=None)
