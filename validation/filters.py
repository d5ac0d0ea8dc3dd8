"""Forms whose answers stand in the page's address: what is looked at, and from when to when."""

import re
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from accounts.models import Account
from apikeys.errors import REFUSALS
from apikeys.models import ApiKey
from validation.engine.reasons import REASONS, Verdict
from validation.engine.syntax import Parts, parse_address
from validation.log_search import Wanted
from validation.spans import MOST_DAYS, Span, TooLong, Unit, last_days, last_hours, last_months
from validation.spans import span_of_days as days_from_to

PLAYGROUND = "playground"
REQUEST_ID = re.compile(r"\A[A-Za-z0-9_-]{8,64}\Z")


class DayField(forms.DateField):
    """Of the years in which there may be anything: the first and the last there are overflow."""

    widget = forms.DateInput(attrs={"type": "date"})

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value is not None and not 2020 <= value.year <= timezone.now().year + 1:
            raise ValidationError("Choose a day since 2020.")


class KeyField(forms.ChoiceField):
    """All keys of the account, those that ended too, and the playground."""

    def __init__(self, keys: list[ApiKey]) -> None:
        self.keys = {key.public_id: key for key in keys}
        named = [(key.public_id, f"{key.name} · {key.display}") for key in keys]
        choices = [("", "All keys"), (PLAYGROUND, "Playground"), *named]
        super().__init__(label="Key", choices=choices, required=False)


class Filter(forms.Form):
    """Of one account's pages."""

    def __init__(self, data: Any, account: Account) -> None:
        super().__init__(data)
        self.keys = list(account.api_keys.all())
        self.fields["key"] = KeyField(self.keys)

    @property
    def key(self) -> ApiKey | None:
        chosen = self.cleaned_data.get("key", "")
        return next((key for key in self.keys if key.public_id == chosen), None)

    @property
    def is_of_playground(self) -> bool:
        return bool(self.cleaned_data.get("key") == PLAYGROUND)

    @property
    def query(self) -> str:
        """What was asked, as it stands in an address."""
        given = {name: self.data.get(name) for name in self.fields}
        return urlencode({name: value for name, value in given.items() if value})


class UsageFilter(Filter):
    RANGES = {
        "24h": "Last 24 hours",
        "7d": "Last 7 days",
        "30d": "Last 30 days",
        "90d": "Last 90 days",
        "12m": "Last 12 months",
        "custom": "From … to …",
    }
    range = forms.ChoiceField(label="When", choices=[*RANGES.items()])
    since = DayField(label="From", required=False)
    until = DayField(label="To", required=False)
    by = forms.ChoiceField(
        label="By",
        choices=[("", "Automatic"), ("hour", "Hour"), ("day", "Day"), ("month", "Month")],
        required=False,
    )

    def __init__(self, data: Any, account: Account, now: datetime) -> None:
        data = data.copy()
        data.setdefault("range", "custom" if data.get("since") or data.get("until") else "30d")
        super().__init__(data, account)
        self.now = now
        self.span = last_days(now, 30)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            try:
                self.span = self._span(data)
            except TooLong as error:
                raise ValidationError(str(error)) from error
        return data

    def _span(self, data: dict[str, Any]) -> Span:
        unit = Unit(data["by"]) if data["by"] else None
        chosen = data["range"]
        if chosen == "custom":
            return self._days(data, unit)
        if chosen == "24h":
            if unit not in (None, Unit.HOUR):
                raise ValidationError("24 hours are shown by hour.")
            return last_hours(self.now, 24)
        number, kind = int(chosen[:-1]), chosen[-1]
        return (last_days if kind == "d" else last_months)(self.now, number, unit)

    def _days(self, data: dict[str, Any], unit: Unit | None) -> Span:
        until = data["until"] or self.now.date()
        since = data["since"] or until
        if since > until:
            raise ValidationError("“From” is after “To”: exchange them.")
        if (until - since).days >= MOST_DAYS[Unit.MONTH]:
            raise ValidationError("At most five years fit in one chart.")
        return days_from_to(since, until, unit)

    @property
    def only(self) -> dict[str, Any]:
        """For the figures: of one key, of the playground, or of all."""
        if self.is_of_playground:
            return {"key": None}
        return {"key": self.key} if self.key else {}


class LogFilter(Filter):
    STATUSES = sorted({200, *(refusal.status for refusal in REFUSALS.values())} - {429, 503})
    verdict = forms.ChoiceField(
        choices=[("", "All verdicts"), *((v.value, v.value) for v in Verdict)], required=False
    )
    status = forms.TypedChoiceField(
        choices=[("", "All"), *((f"{s}", f"{s}") for s in STATUSES)],
        coerce=int,
        empty_value=None,
        required=False,
    )
    reason = forms.ChoiceField(
        choices=[
            ("", "All reasons"),
            *((f"{verdict}", [(r, r) for r in reasons]) for verdict, reasons in REASONS.items()),
            ("refused", [(code, code) for code in REFUSALS]),
        ],
        required=False,
    )
    day = DayField(label="Day (UTC)", required=False)
    domain = forms.CharField(max_length=260, required=False)
    # What the search found; it has no field on the page.
    address = forms.RegexField("^[0-9a-f]{32}$", required=False, widget=forms.HiddenInput)
    request = forms.RegexField(REQUEST_ID, required=False, widget=forms.HiddenInput)

    def clean_domain(self) -> str:
        """As the log holds it, however it is typed."""
        typed = self.cleaned_data["domain"].rpartition("@")[2]
        if not typed:
            return ""
        parts = parse_address(f"x@{typed}")
        if not isinstance(parts, Parts):
            raise ValidationError("This is no domain: one such as shop.com is.")
        return parts.domain

    @property
    def wanted(self) -> Wanted:
        data = self.cleaned_data
        reason = data["reason"]
        return Wanted(
            verdict=data["verdict"],
            status=data["status"],
            reason="" if reason in REFUSALS else reason,
            refusal=reason if reason in REFUSALS else "",
            key=self.key,
            playground=self.is_of_playground,
            day=data["day"],
            domain=data["domain"],
            address_hash=data["address"],
            request_id=data["request"],
        )
