"""Run an API call from the dashboard, without a key."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import orjson

from accounts.models import Account
from accounts.request import AccountRequest
from apikeys.errors import ApiError
from apikeys.models import count_refusal
from apikeys.rest.responses import JSON, rate_limit_headers
from apikeys.throttling import limits
from apikeys.throttling.limits import BucketState
from apikeys.throttling.throttles import consume_rest_of_batch, rate_limit_exceeded
from credits.models import Wallet
from credits.wallet.charges import insufficient_credits
from engine import Meaning, explain_result
from runtime.unicode import INVISIBLE
from validation import services
from validation.batches import services as batches
from validation.models import Check, LogEntry
from validation.results.serializers import DEFAULT_TIMEOUT_SECONDS
from validation.sandbox_errors import raise_sandbox_error
from validation.validations import Caller, ValidationResponse


@dataclass(frozen=True)
class PlaygroundResponse:
    status: int
    headers: dict[str, str]
    document: dict[str, Any]

    @property
    def result(self) -> dict[str, object] | None:
        return self.document if self.status == 200 else None

    @property
    def error(self) -> dict[str, object] | None:
        return self.document.get("error")

    @property
    def reasons(self) -> list[tuple[str, Meaning]]:
        did_you_mean = self.document["did_you_mean"]
        return [(code, explain_result(code, did_you_mean)) for code in self.document["reasons"]]

    @property
    def outcome(self) -> str:
        return str(self.document["verdict"] if self.result else self.status)

    @property
    def head(self) -> str:
        lines = (f"{name}: {value}" for name, value in self.headers.items())
        return "\n".join([f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}", *lines])

    @property
    def text(self) -> str:
        return format_json(self.document)


def format_json(document: dict[str, Any]) -> str:
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return INVISIBLE.sub(lambda match: json.dumps(match[0])[1:-1], text)


@dataclass
class PlaygroundCall:
    caller: Caller
    rate_limit: BucketState


def send_request(
    request: AccountRequest, email: str, *, mailbox: bool = False
) -> PlaygroundResponse:
    check = Check.MAILBOX if mailbox else Check.DNS

    def validate(call: PlaygroundCall) -> ValidationResponse:
        check_price(call.caller.account, services.price_of(email, check))
        raise_sandbox_error(email, call.rate_limit)
        if mailbox:
            return services.check_mailbox(
                caller=call.caller,
                email=email,
                idempotency_key=None,
                timeout_seconds=DEFAULT_TIMEOUT_SECONDS,
            )
        return services.validate(caller=call.caller, email=email, idempotency_key=None)

    return send(request, validate)


def send_batch(request: AccountRequest, emails: Sequence[str]) -> PlaygroundResponse:
    def validate(call: PlaygroundCall) -> ValidationResponse:
        account = call.caller.account
        usage = consume_rest_of_batch([limits.account_bucket(account)], len(emails))
        if usage is not None:
            call.rate_limit = usage
            if usage.refused:
                raise rate_limit_exceeded(usage, needed=len(emails) - 1)
        check_price(account, batches.price_of_batch(emails))
        return batches.validate_batch(caller=call.caller, emails=emails, idempotency_key=None)

    return send(request, validate)


def send(
    request: AccountRequest, validate: Callable[[PlaygroundCall], ValidationResponse]
) -> PlaygroundResponse:
    """Run the same checks as the API, in the same order, then `validate`."""
    account = request.account
    rate_limit = limits.consume(request, limits.account_bucket(account))
    call = PlaygroundCall(Caller(account, None, request.id), rate_limit)
    try:
        if rate_limit.refused:
            raise rate_limit_exceeded(rate_limit)
        if account.suspended_at is not None:
            raise ApiError("account_suspended")
        response = validate(call)
    except ApiError as error:
        status, body, extra = error.status, error.body(request.id), error.headers
        if not error.is_sandbox:
            count_refusal(account.pk, None, error.code)
    else:
        status, body = 200, response.body
        extra = {"X-Credits-Cost": str(response.cost), "X-Credits-Remaining": str(response.balance)}
        # The page shows this balance, which was loaded before the charge.
        account.wallet.balance = response.balance
    headers = {
        "Content-Type": JSON,
        **extra,
        **rate_limit_headers(call.rate_limit, status),
        "X-Request-Id": request.id,
    }
    return PlaygroundResponse(status, headers, orjson.loads(body))


def check_price(account: Account, price: int) -> None:
    wallet = Wallet.objects.get(account=account)
    if price > wallet.balance:
        raise insufficient_credits(wallet, required=price)


def request_urls(account: Account, batch_id: str) -> dict[str, str]:
    """Return the URL of each result's page, by result id. Empty if requests aren't stored."""
    entries = LogEntry.objects.retained_for(account).of_batch(batch_id)
    return {entry.result_id: entry.get_absolute_url() for entry in entries}
