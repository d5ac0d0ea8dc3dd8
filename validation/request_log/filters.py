import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from accounts.models import Account
from apikeys.errors import REFUSALS
from engine import REASONS, AddressParts, Verdict, parse_address
from runtime.http.query_form import DayField
from validation.ids import BATCH_ID
from validation.key_filter import ORDER_ERROR, KeyFilter
from validation.request_log.search import LogQuery

REQUEST_ID = re.compile(r"\A[A-Za-z0-9_-]{8,64}\Z")


class LogFilter(KeyFilter):
    # The request log has no 401, 429 or 503.
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
    address = forms.RegexField("^[0-9a-f]{32}$", required=False, widget=forms.HiddenInput)
    request = forms.RegexField(REQUEST_ID, required=False, widget=forms.HiddenInput)
    batch = forms.RegexField(BATCH_ID, required=False, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, object], account: Account) -> None:
        if data.get("day"):
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
        typed = self.cleaned_data["domain"].rpartition("@")[2].rstrip(".")
        if not typed:
            return ""
        parts = parse_address(f"x@{typed}")
        if not isinstance(parts, AddressParts):
            raise ValidationError("Enter a valid domain, such as shop.com.")
        return parts.domain

    @property
    def description(self) -> str:
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
