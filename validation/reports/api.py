"""GET /v1/usage: usage per day."""

import re
from datetime import date, timedelta

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter

from accounts.models import Account
from apikeys.errors import ApiError
from apikeys.models import ApiKey
from apikeys.request import ApiRequest
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import COMMON_ERRORS, describe, named_example
from apikeys.rest.view import ApiView
from credits.wallet.totals import usage_by_day
from validation.engine.verdicts.reasons import Verdict
from validation.results.serializers import UsageSerializer

DEFAULT_DAYS, MAX_DAYS = 30, 366
_DATE = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", re.ASCII)
_DATE_SCHEMA = {"type": "string", "format": "date", "pattern": "^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"}
EXAMPLE = {
    "from": "2026-11-20",
    "to": "2026-11-20",
    "days": [
        {
            "date": "2026-11-20",
            "requests": 812,
            "credits": 789,
            "deliverable": 640,
            "risky": 88,
            "undeliverable": 61,
            "unknown": 23,
        }
    ],
}
PARAMETERS = [
    OpenApiParameter(
        "from",
        _DATE_SCHEMA,
        description="First day. Defaults to 29 days before `to`",
        examples=[named_example("The first of a month", "2026-11-01")],
    ),
    OpenApiParameter(
        "to",
        _DATE_SCHEMA,
        description="Last day. Defaults to today",
        examples=[named_example("The last of a month", "2026-11-30")],
    ),
    OpenApiParameter(
        "key",
        {"type": "string"},
        description="ID of an API key (`key_…`), to return only its usage",
        examples=[named_example("One key", "key_5Hc9TfWnQ3sEvXy7BgMk")],
    ),
]


class UsageView(ApiView):
    query_parameters = ("from", "to", "key")

    first: date
    last: date
    key: ApiKey | None

    def prepare(self) -> None:
        request = self.request
        today = timezone.now().date()
        self.last = _parse_day(request, "to") or today
        self.first = _parse_day(request, "from") or self.last - timedelta(days=DEFAULT_DAYS - 1)
        if self.first > self.last:
            raise _invalid_field("from", "from must not be after to.")
        if (self.last - self.first).days >= MAX_DAYS:
            raise _invalid_field(
                "from", f"Usage is limited to {MAX_DAYS} days. Choose a shorter range."
            )
        self.key = _find_key(request)

    @describe(
        "show-usage",
        "Get usage",
        "Returns validations, verdicts and credits per day. Days are in UTC.",
        UsageSerializer,
        tag="Account",
        examples={"One day": EXAMPLE},
        parameters=PARAMETERS,
        refusals=(*COMMON_ERRORS, "invalid_field"),
    )
    def get(self, request: ApiRequest) -> ApiResponse:
        days = list_daily_usage(request.call.key.account, self.first, self.last, self.key)
        return json_response({"from": f"{self.first}", "to": f"{self.last}", "days": days})


def list_daily_usage(
    account: Account, first: date, last: date, key: ApiKey | None
) -> list[dict[str, object]]:
    """Return one dict per day, including days without usage."""
    names = ("requests", "credits", *(verdict.value for verdict in Verdict))
    days = {day: dict.fromkeys(names, 0) for day in _days_between(first, last)}
    key_filter = {"key": key} if key else {}
    for used in usage_by_day(account, first, last, **key_filter):
        day = days[used.of]
        day[used.verdict] += used.calls
        day["requests"] += used.calls
        day["credits"] += used.credits
    return [{"date": f"{day}", **counts} for day, counts in days.items()]


def _days_between(first: date, last: date) -> list[date]:
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def _parse_day(request: ApiRequest, name: str) -> date | None:
    text = _single_value(request, name)
    if text is None:
        return None
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else _refuse_date(name)
    except ValueError:
        return _refuse_date(name)


def _refuse_date(name: str) -> date:
    raise _invalid_field(name, f"{name} must be a date such as 2026-11-20.")


def _find_key(request: ApiRequest) -> ApiKey | None:
    text = _single_value(request, "key")
    if text is None:
        return None
    account = request.call.key.account
    key = account.api_keys.filter(public_id=text.replace("\0", "")).first()
    if key is None:
        raise _invalid_field(
            "key", "There is no key with this id in your account. Ids start with key_."
        )
    return key


def _single_value(request: ApiRequest, name: str) -> str | None:
    values = request.query_params.getlist(name)
    if len(values) > 1:
        raise _invalid_field(name, f"{name} was given more than once.")
    return values[0] if values else None


def _invalid_field(name: str, message: str) -> ApiError:
    return ApiError("invalid_field", message, param=name)
