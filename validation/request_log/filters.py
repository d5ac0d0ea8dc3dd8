import re
from datetime import UTC, datetime, timedelta

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils import timezone
from django.utils.functional import cached_property

from accounts.date_display import LocalDateTimeField
from apikeys.errors import REFUSALS
from engine import MEANINGS, AddressParts, Verdict, parse_address
from validation.ids import BATCH_ID
from validation.key_filter import KeyFilter
from validation.models.log_entries import COMMON_REASON

# Ours, and those that clients choose.
REQUEST_ID = re.compile(r"\A[A-Za-z0-9_-]{8,64}\Z")
REFUSED = "refused"
TIMES = ("range", "since", "until")
TIME_INPUT = forms.DateTimeInput({"type": "datetime-local", "form": "log-search"})
RANGES = {
    "15m": timedelta(minutes=15),
    "1h": timedelta(hours=1),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}


def time_param(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M}"


def _validate_year(moment: datetime) -> None:
    # The first and last days of the calendar don't exist in every zone.
    if not 1 < moment.year < 9999:
        raise ValidationError("Enter a valid time.")


class LogTimesForm(forms.Form):
    """The times of a filter in the user's zone. Its URL has them in UTC, so it can be shared."""

    since = LocalDateTimeField(label="From", required=False, widget=TIME_INPUT)
    until = LocalDateTimeField(label="To", required=False, widget=TIME_INPUT)

    @property
    def utc_params(self) -> dict[str, str]:
        """Return the valid times. The filter refuses the others."""
        self.full_clean()
        return {name: time_param(moment) for name, moment in self.cleaned_data.items() if moment}


class LogFilter(KeyFilter):
    """The filters in a URL of the request log."""

    # The request log has no 401, 429 or 503.
    CODES = [code for code, refusal in REFUSALS.items() if refusal.status not in {401, 429, 503}]
    STATUSES = [REFUSED, *map(str, sorted({200, *(REFUSALS[code].status for code in CODES)}))]
    ALL_REASONS = [*MEANINGS, *CODES]
    verdict = forms.ChoiceField(choices=[(v.value, v) for v in Verdict], required=False)
    reason = forms.ChoiceField(choices=[(reason, reason) for reason in ALL_REASONS], required=False)
    status = forms.ChoiceField(choices=[(status, status) for status in STATUSES], required=False)
    domain = forms.CharField(max_length=260, required=False)
    address = forms.RegexField("^[0-9a-f]{32}$", required=False)
    request = forms.RegexField(REQUEST_ID, required=False)
    batch = forms.RegexField(BATCH_ID, required=False)
    range = forms.ChoiceField(choices=[(name, name) for name in RANGES], required=False)
    since = forms.DateTimeField(label="From (UTC)", required=False, validators=[_validate_year])
    until = forms.DateTimeField(label="To (UTC)", required=False, validators=[_validate_year])

    def clean_domain(self) -> str:
        typed = self.cleaned_data["domain"].rpartition("@")[2].rstrip(".")
        if not typed:
            return ""
        parts = parse_address(f"x@{typed}")
        if not isinstance(parts, AddressParts):
            raise ValidationError("Enter a valid domain, such as shop.com.")
        return parts.domain

    @property
    def filters(self) -> dict[str, str]:
        """Return the parameters other than the times."""
        return {name: value for name, value in self.params.items() if name not in TIMES}

    @property
    def has_times(self) -> bool:
        return bool(self.params.keys() & {"since", "until"})

    @property
    def description(self) -> str:
        values = self.params | ({"key": self.key.name} if self.key else {})
        if "address" in values:
            values["address"] = "one address"
        return ", ".join(f"{self[name].label}: {value}" for name, value in values.items()) or "All"

    @cached_property
    def starts_at(self) -> datetime | None:
        length = RANGES.get(self.cleaned_data["range"])
        return self.cleaned_data["since"] or (timezone.now() - length if length else None)

    def indexed_conditions(self) -> list[Q]:
        """Return the filters that have an index, the most selective first."""
        data, reason = self.cleaned_data, self.cleaned_data["reason"]
        is_refused = reason in REFUSALS or data["status"] not in ("", "200")
        # Repeats the index's condition, which SQLite doesn't infer.
        is_rare = ~Q(reason=COMMON_REASON)
        conditions: list[tuple[object, Q]] = [
            (data["request"], Q(request_id=data["request"])),
            (data["address"], Q(address_hash=data["address"])),
            (data["domain"], Q(domain=data["domain"])),
            (reason in MEANINGS and reason != COMMON_REASON, Q(is_rare, reason=reason)),
            (is_refused, ~Q(status=200)),
            (self.key, Q(key=self.key)),
        ]
        return [condition for value, condition in conditions if value]

    def unindexed_conditions(self) -> list[Q]:
        data, reason = self.cleaned_data, self.cleaned_data["reason"]
        conditions: list[tuple[object, Q]] = [
            (data["status"] not in ("", REFUSED), Q(status=data["status"])),
            (reason in REFUSALS, Q(refusal=reason)),
            (data["verdict"], Q(verdict=data["verdict"])),
            (reason == COMMON_REASON, Q(reason=COMMON_REASON)),
            (self.is_playground, Q(key=None)),
        ]
        return [condition for value, condition in conditions if value]
