"""Filter forms of the usage and request pages. Their values are in the query string."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError

from accounts.models import Account
from apikeys.errors import REFUSALS
from apikeys.models import ApiKey
from runtime.http.query_form import DayField, QueryForm
from validation.engine.syntax.parsing import AddressParts, parse_address
from validation.engine.verdicts.reasons import REASONS, Verdict
from validation.ids import BATCH_ID
from validation.reports.date_ranges import (
    MAX_DAYS,
    DateRange,
    HoursExpired,
    RangeTooLong,
    Unit,
    last_days,
    last_hours,
    last_months,
    range_of_days,
)
from validation.request_log.search import LogQuery

PLAYGROUND = "playground"
MAX_KEYS = 200
ORDER_ERROR = "“From” must be before “To”."
REQUEST_ID = re.compile(r"\A[A-Za-z0-9_-]{8,64}\Z")


class KeyField(forms.ChoiceField):
    """Offers the account's keys, including expired and revoked ones, and the playground."""

    def __init__(self, keys: list[ApiKey]) -> None:
        self.keys = {key.public_id: key for key in keys}
        options = [(key.public_id, f"{key.name} · {key.display}") for key in keys]
        choices = [("", "All keys"), (PLAYGROUND, "Playground"), *options]
        super().__init__(label="Key", choices=choices, required=False)


class AccountFilter(QueryForm):
    """Adds a filter for the keys of one account."""

    def __init__(self, data: Mapping[str, object], account: Account) -> None:
        super().__init__(data)
        # Newest first. An account that rotates keys every week has hundreds of old ones.
        self.keys = list(account.api_keys.all()[:MAX_KEYS])
        self.fields["key"] = KeyField(self.keys)

    @property
    def key(self) -> ApiKey | None:
        key_id = self.cleaned_data.get("key", "")
        return next((key for key in self.keys if key.public_id == key_id), None)

    @property
    def is_playground(self) -> bool:
        return bool(self.cleaned_data.get("key") == PLAYGROUND)


class UsageFilter(AccountFilter):
    RANGES = {
        "24h": "24 hours",
        "7d": "7 days",
        "30d": "30 days",
        "90d": "90 days",
        "12m": "12 months",
    }
    DEFAULT = "30d"
    # The page links to each range. Dates take precedence over the range.
    range = forms.ChoiceField(choices=[*RANGES.items()], required=False, widget=forms.HiddenInput)
    since = DayField(label="From (UTC)", required=False)
    until = DayField(label="To (UTC)", required=False)
    by = forms.ChoiceField(
        label="By",
        choices=[("", "Automatic"), ("hour", "Hour"), ("day", "Day"), ("month", "Month")],
        required=False,
    )

    def __init__(self, data: Mapping[str, object], account: Account, now: datetime) -> None:
        super().__init__(data, account)
        self.now = now
        # None if the form is invalid.
        self.date_range: DateRange | None = None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            try:
                self.date_range = self._parse_range(data)
            except (RangeTooLong, HoursExpired) as error:
                raise ValidationError(str(error)) from error
        return data

    @property
    def ranges(self) -> list[tuple[str, str, bool]]:
        """Return the query string, the label, and whether it's active, for each range."""
        other_filters = {name: self.data.get(name) for name in ("key",) if self.data.get(name)}
        active = None if self._has_dates else self.data.get("range") or self.DEFAULT
        return [
            (urlencode({"range": code, **other_filters}), label, code == active)
            for code, label in self.RANGES.items()
        ]

    @property
    def _has_dates(self) -> bool:
        return bool(self.data.get("since") or self.data.get("until"))

    def _parse_range(self, data: dict[str, Any]) -> DateRange:
        unit = Unit(data["by"]) if data["by"] else None
        if self._has_dates:
            return self._parse_dates(data, unit)
        code = data["range"] or self.DEFAULT
        if code == "24h":
            if unit not in (None, Unit.HOUR):
                raise ValidationError("The last 24 hours are only available by hour.")
            return last_hours(self.now, 24)
        count, kind = int(code[:-1]), code[-1]
        return (last_days if kind == "d" else last_months)(self.now, count, unit)

    def _parse_dates(self, data: dict[str, Any], unit: Unit | None) -> DateRange:
        until = data["until"] or self.now.date()
        since = data["since"] or until
        if since > until:
            raise ValidationError(ORDER_ERROR)
        if (until - since).days >= MAX_DAYS[Unit.MONTH]:
            raise ValidationError("A chart shows at most two years. Choose a shorter range.")
        return range_of_days(since, until, unit, today=self.now.date())

    @property
    def key_filter(self) -> dict[str, object]:
        """Return the filter for usage queries: one key, the playground (None), or all."""
        if self.is_playground:
            return {"key": None}
        return {"key": self.key} if self.key else {}


class LogFilter(AccountFilter):
    # The request log contains no requests without a valid key, and no 429 or 503.
    CODES = [code for code, refusal in REFUSALS.items() if refusal.status not in {401, 429, 503}]
    STATUSES = sorted({200, *(REFUSALS[code].status for code in CODES)})
    verdict = forms.ChoiceField(
        choices=[("", "All verdicts"), *((v.value, v.capitalize()) for v in Verdict)],
        required=False,
    )
    status = forms.TypedChoiceField(
        choices=[("", "All statuses"), *((f"{s}", f"{s}") for s in STATUSES)],
        coerce=int,
        empty_value=None,
        required=False,
    )
    reason = forms.ChoiceField(
        choices=[
            ("", "All reasons"),
            *((v.capitalize(), [(r, r) for r in reasons]) for v, reasons in REASONS.items()),
            ("Refused", [(code, code) for code in CODES]),
        ],
        required=False,
    )
    since = DayField(label="From (UTC)", required=False)
    until = DayField(label="To (UTC)", required=False)
    domain = forms.CharField(max_length=260, required=False)
    # Set by the search box, and by links; hidden in the form.
    address = forms.RegexField("^[0-9a-f]{32}$", required=False, widget=forms.HiddenInput)
    request = forms.RegexField(REQUEST_ID, required=False, widget=forms.HiddenInput)
    batch = forms.RegexField(BATCH_ID, required=False, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, object], account: Account) -> None:
        if data.get("day"):
            # Links of earlier versions name a single day.
            data = {
                **{name: data[name] for name in data},
                "since": data["day"],
                "until": data["day"],
            }
        super().__init__(data, account)
        self.order_fields(["verdict", "reason", "status", "key", "since", "until"])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        since, until = data.get("since"), data.get("until")
        if since and until and since > until:
            raise ValidationError(ORDER_ERROR)
        return data

    def clean_domain(self) -> str:
        """Return the domain as the request log stores it."""
        typed = self.cleaned_data["domain"].rpartition("@")[2].rstrip(".")
        if not typed:
            return ""
        parts = parse_address(f"x@{typed}")
        if not isinstance(parts, AddressParts):
            raise ValidationError("Enter a valid domain, such as shop.com.")
        return parts.domain

    @property
    def description(self) -> str:
        """Describe the filters for the audit entry of an export: `Verdict: risky`."""
        values = self.params | ({"key": self.key.name} if self.key else {})
        if "address" in values:
            values["address"] = "one address"
        return ", ".join(f"{self[name].label}: {value}" for name, value in values.items()) or "All"

    @property
    def log_query(self) -> LogQuery:
        data = self.cleaned_data
        reason = data["reason"]
        return LogQuery(
            verdict=data["verdict"],
            status=data["status"],
            reason="" if reason in REFUSALS else reason,
            refusal=reason if reason in REFUSALS else "",
            key=self.key,
            playground=self.is_playground,
            since=data["since"],
            until=data["until"],
            domain=data["domain"],
            address_hash=data["address"],
            request_id=data["request"],
            batch_id=data["batch"],
        )
