"""Forms whose answers stand in the page's address: what is looked at, and from when to when."""

import re
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError

from accounts.models import Account
from apikeys.errors import REFUSALS
from apikeys.models import ApiKey
from runtime.http.query_form import DayField, QueryForm
from validation.engine.reasons import REASONS, Verdict
from validation.engine.syntax import Parts, parse_address
from validation.reports.date_ranges import (
    MOST_DAYS,
    DateRange,
    TooLong,
    TooOld,
    Unit,
    last_days,
    last_hours,
    last_months,
    range_of_days,
)
from validation.request_log.search import LogQuery

PLAYGROUND = "playground"
MOST_KEYS = 200
REQUEST_ID = re.compile(r"\A[A-Za-z0-9_-]{8,64}\Z")


class KeyField(forms.ChoiceField):
    """All keys of the account, those that ended too, and the playground."""

    def __init__(self, keys: list[ApiKey]) -> None:
        self.keys = {key.public_id: key for key in keys}
        named = [(key.public_id, f"{key.name} · {key.display}") for key in keys]
        choices = [("", "All keys"), (PLAYGROUND, "Playground"), *named]
        super().__init__(label="Key", choices=choices, required=False)


class Filter(QueryForm):
    """Of one account's pages."""

    def __init__(self, data: Any, account: Account) -> None:
        super().__init__(data)
        # The newest first; whose server changes keys every week has hundreds that ended.
        self.keys = list(account.api_keys.all()[:MOST_KEYS])
        self.fields["key"] = KeyField(self.keys)

    @property
    def key(self) -> ApiKey | None:
        chosen = self.cleaned_data.get("key", "")
        return next((key for key in self.keys if key.public_id == chosen), None)

    @property
    def is_of_playground(self) -> bool:
        return bool(self.cleaned_data.get("key") == PLAYGROUND)


class UsageFilter(Filter):
    RANGES = {
        "24h": "24 hours",
        "7d": "7 days",
        "30d": "30 days",
        "90d": "90 days",
        "12m": "12 months",
    }
    USUAL = "30d"
    # A link for each stands above the form. Dates that are filled in count before it.
    range = forms.ChoiceField(choices=[*RANGES.items()], required=False, widget=forms.HiddenInput)
    since = DayField(label="From (UTC)", required=False)
    until = DayField(label="To (UTC)", required=False)
    by = forms.ChoiceField(
        label="By",
        choices=[("", "Automatic"), ("hour", "Hour"), ("day", "Day"), ("month", "Month")],
        required=False,
    )

    def __init__(self, data: Any, account: Account, now: datetime) -> None:
        super().__init__(data, account)
        self.now = now
        # None where what was asked cannot be shown.
        self.span: DateRange | None = None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            try:
                self.span = self._span(data)
            except (TooLong, TooOld) as error:
                raise ValidationError(str(error)) from error
        return data

    @property
    def ranges(self) -> list[tuple[str, str, bool]]:
        """The address of each range with the other filters, its words, and whether it is shown."""
        kept = {name: self.data.get(name) for name in ("key",) if self.data.get(name)}
        shown = None if self._has_dates else self.data.get("range") or self.USUAL
        return [
            (urlencode({"range": code, **kept}), words, code == shown)
            for code, words in self.RANGES.items()
        ]

    @property
    def _has_dates(self) -> bool:
        return bool(self.data.get("since") or self.data.get("until"))

    def _span(self, data: dict[str, Any]) -> DateRange:
        unit = Unit(data["by"]) if data["by"] else None
        if self._has_dates:
            return self._days(data, unit)
        chosen = data["range"] or self.USUAL
        if chosen == "24h":
            if unit not in (None, Unit.HOUR):
                raise ValidationError("24 hours are shown by hour.")
            return last_hours(self.now, 24)
        number, kind = int(chosen[:-1]), chosen[-1]
        return (last_days if kind == "d" else last_months)(self.now, number, unit)

    def _days(self, data: dict[str, Any], unit: Unit | None) -> DateRange:
        until = data["until"] or self.now.date()
        since = data["since"] or until
        if since > until:
            raise ValidationError("“From” is after “To”: exchange them.")
        if (until - since).days >= MOST_DAYS[Unit.MONTH]:
            raise ValidationError(
                "At most two years fit in one chart: choose an earlier end for older ones."
            )
        return range_of_days(since, until, unit, today=self.now.date())

    @property
    def only(self) -> dict[str, Any]:
        """For the figures: of one key, of the playground, or of all."""
        if self.is_of_playground:
            return {"key": None}
        return {"key": self.key} if self.key else {}


class LogFilter(Filter):
    # What may stand in the log: of a valid key, and no 429 or 503.
    CODES = [code for code, refusal in REFUSALS.items() if refusal.status not in {401, 429, 503}]
    STATUSES = sorted({200, *(REFUSALS[code].status for code in CODES)})
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
            ("refused", [(code, code) for code in CODES]),
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
        typed = self.cleaned_data["domain"].rpartition("@")[2].rstrip(".")
        if not typed:
            return ""
        parts = parse_address(f"x@{typed}")
        if not isinstance(parts, Parts):
            raise ValidationError("This is no domain: one such as shop.com is.")
        return parts.domain

    @property
    def wanted(self) -> LogQuery:
        data = self.cleaned_data
        reason = data["reason"]
        return LogQuery(
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
