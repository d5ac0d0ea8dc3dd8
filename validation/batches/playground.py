from collections.abc import Sequence

from accounts.models import Account
from accounts.request import AccountRequest
from apikeys.throttling import limits
from apikeys.throttling.throttles import consume_rest_of_batch, rate_limit_exceeded
from validation.batches import services
from validation.models import LogEntry
from validation.playground import PlaygroundCall, PlaygroundResponse, check_price, send
from validation.validations import ValidationResponse


def send_batch(request: AccountRequest, emails: Sequence[str]) -> PlaygroundResponse:
    def validate(call: PlaygroundCall) -> ValidationResponse:
        account = call.caller.account
        usage = consume_rest_of_batch([limits.account_bucket(account)], len(emails))
        if usage is not None:
            call.rate_limit = usage
            if usage.refused:
                raise rate_limit_exceeded(usage, needed=len(emails) - 1)
        check_price(account, services.price_of_batch(emails))
        return services.validate_batch(caller=call.caller, emails=emails, idempotency_key=None)

    return send(request, validate)


def request_urls(account: Account, batch_id: str) -> dict[str, str]:
    """Return the URL of each result's page, by result id. Empty if requests aren't stored."""
    entries = LogEntry.objects.retained_for(account).of_batch(batch_id)
    return {entry.result_id: entry.get_absolute_url() for entry in entries}
