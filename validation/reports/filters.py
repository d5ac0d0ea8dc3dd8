from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from accounts.models import Account
from credits.models.usage import REQUEST_SOURCES, Source
from runtime.http.query_form import DayField
from validation.key_filter import KeyFilter
from validation.reports.date_ranges import (
    MAX_DAYS,
    DateRange,
    Unit,
    last_days,
    last_hours,
    last_months,
    range_of_days,
)


class UsageFilter(KeyFilter):
    RANGES = {
        "24h": "24 hours",
        "7d": "7 days",
        "30d": "30 days",
        "90d": "90 days",
        "12m": "12 months",
    }
    DEFAULT = "30d"
    range = forms.ChoiceField(choices=[*RANGES.items()], required=False, widget=forms.HiddenInput)
    since = DayField(label="From (UTC)", required=False)
    until = DayField(label="To (UTC)", required=False)
    by = forms.ChoiceField(
        label="By",
        choices=[("", "Automatic"), ("hour", "Hour"), ("day", "Day"), ("month", "Month")],
        required=False,
    )
    source = forms.ChoiceField(choices=Source.choices, required=False, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, object], account: Account, now: datetime) -> None:
        super().__init__(data, account)
        self.now = now
        # None if the form is invalid.
        self.date_range: DateRange | None = None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.is_playground and data.get("source") not in {"", Source.PLAYGROUND}:
            raise ValidationError("The playground uses no key. Choose another key or source.")
        if not self.errors:
            self.date_range = self._parse_range(data)
        return data

    @property
    def active_range(self) -> str:
        return "" if self._has_dates else str(self.data.get("range") or self.DEFAULT)

    @property
    def filters(self) -> dict[str, str]:
        """Return the parameters other than the dates."""
        return {name: self.params[name] for name in ("key", "source") if name in self.params}

    @property
    def sources(self) -> list[Source]:
        return [self.chosen_source] if self.chosen_source else [*Source]

    @property
    def chosen_source(self) -> Source | None:
        chosen = Source.PLAYGROUND if self.is_playground else self.cleaned_data.get("source")
        return Source(chosen) if chosen else None

    @property
    def _has_dates(self) -> bool:
        return bool(self.data.get("since") or self.data.get("until"))

    def _parse_range(self, data: dict[str, Any]) -> DateRange:
        unit = Unit(data["by"]) if data["by"] else None
        if self._has_dates:
            since = data["since"] or data["until"]
            until = data["until"] or max(since, self.now.date())
            if (until - since).days >= MAX_DAYS[Unit.MONTH]:
                raise ValidationError("A chart shows at most two years. Choose a shorter range.")
            return range_of_days(since, until, unit, today=self.now.date())
        code = data["range"] or self.DEFAULT
        if code == "24h":
            if unit not in (None, Unit.HOUR):
                raise ValidationError("The last 24 hours are only available by hour.")
            return last_hours(self.now, 24)
        count, kind = int(code[:-1]), code[-1]
        return (last_days if kind == "d" else last_months)(self.now, count, unit)

    @property
    def key_filter(self) -> dict[str, object]:
        """Return the filters by key of usage and refusals."""
        filters: dict[str, object] = {"key": self.key} if self.key else {}
        if self.chosen_source in REQUEST_SOURCES:
            filters["key__isnull"] = self.chosen_source == Source.PLAYGROUND
        return filters
