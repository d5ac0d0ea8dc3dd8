import re
from datetime import datetime, timedelta
from ipaddress import ip_network
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone

from accounts.forms import OneTimeForm, WholeNumberField
from accounts.models import Account
from apikeys.credit_limits import MAX_CREDITS_PER_MONTH
from apikeys.models import ApiKey
from apikeys.scopes import SCOPES, VALIDATION_ONLY

MAX_NETWORKS = 50
LIFETIMES = {"": "Never", "30": "In 30 days", "90": "In 90 days", "365": "In 1 year"}
VALIDATION, FULL, CUSTOM = "validation", "full", "custom"
ACCESS_CHOICES = {
    VALIDATION: "Validation only: the key can validate addresses, and nothing else",
    FULL: "Full access: the key can use the whole API, including features added later",
    CUSTOM: "Custom: the key has the scopes that you choose",
}
GRACE_HOURS = {0: "No, revoke it now", 1: "For 1 hour", 24: "For 24 hours", 168: "For 7 days"}


class KeySettingsForm(forms.Form):
    name = forms.CharField(
        max_length=50,
        validators=ApiKey._meta.get_field("name").validators,
        help_text="What uses the key, such as “Sign-up form” or “Nightly cleanup”.",
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    access = forms.ChoiceField(choices=ACCESS_CHOICES, initial=VALIDATION, widget=forms.RadioSelect)
    scopes = forms.MultipleChoiceField(
        required=False,
        choices=[(name, f"{name}: {text}") for name, text in SCOPES.items()],
        widget=forms.CheckboxSelectMultiple,
    )
    allowed_networks = forms.CharField(
        required=False,
        label="Allowed networks (optional)",
        max_length=4000,
        help_text="IP addresses or networks such as 203.0.113.0/24, one per line. "
        "Leave empty to allow requests from anywhere.",
        widget=forms.Textarea({"rows": 2, "spellcheck": "false"}),
    )
    requests_per_minute = forms.IntegerField(
        required=False,
        min_value=1,
        label="Requests per minute (optional)",
        error_messages={"min_value": "Enter at least 1, or leave this empty."},
    )
    credits_per_month = WholeNumberField(
        required=False,
        min_value=1,
        max_value=MAX_CREDITS_PER_MONTH,
        label="Credits per month (optional)",
        help_text="The most this key can use in a calendar month (UTC). Leave empty for no limit.",
    )

    def __init__(self, account: Account, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.max_limit = account.request_limit
        field = self.fields["requests_per_minute"]
        field.help_text = (
            f"A limit for this key only. Leave empty for the account's limit ({self.max_limit:,})."
        )

    def clean_name(self) -> str:
        return " ".join(self.cleaned_data["name"].split())

    def clean_allowed_networks(self) -> list[str]:
        texts = re.split(r"[\s,]+", self.cleaned_data["allowed_networks"].strip())
        networks = list(dict.fromkeys(_normalize_network(text) for text in texts if text))
        if len(networks) > MAX_NETWORKS:
            raise ValidationError(f"A key can have at most {MAX_NETWORKS} networks. Remove some.")
        return networks

    def clean_requests_per_minute(self) -> int | None:
        limit: int | None = self.cleaned_data["requests_per_minute"]
        if limit is not None and limit > self.max_limit:
            raise ValidationError(f"Enter at most {self.max_limit:,}, the limit of your account.")
        return limit

    def clean(self) -> dict[str, Any]:
        """Leave what the key's services expect: a list, or None for full access."""
        cleaned = super().clean() or self.cleaned_data
        access = cleaned.pop("access", "")
        if access == CUSTOM and not cleaned.get("scopes"):
            self.add_error("scopes", "Choose at least one scope.")
        elif access != CUSTOM:
            cleaned["scopes"] = VALIDATION_ONLY if access == VALIDATION else None
        return cleaned


class CreateKeyForm(KeySettingsForm, OneTimeForm):
    expires_at = forms.ChoiceField(choices=list(LIFETIMES.items()), required=False, label="Expires")
    field_order = ("name", "access", "scopes", "expires_at")

    def clean_expires_at(self) -> datetime | None:
        days = self.cleaned_data["expires_at"]
        return timezone.now() + timedelta(days=int(days)) if days else None


class RotateKeyForm(OneTimeForm):
    grace = forms.TypedChoiceField(
        choices=list(GRACE_HOURS.items()),
        coerce=lambda hours: timedelta(hours=int(hours)),
        initial=24,
        label="Keep the old key working",
    )


def access_of(scopes: list[str] | None) -> dict[str, object]:
    if scopes is None:
        return {"access": FULL}
    return {"access": VALIDATION if scopes == VALIDATION_ONLY else CUSTOM, "scopes": scopes}


def _normalize_network(text: str) -> str:
    try:
        network = ip_network(text, strict=False)
        # No caller's address has a zone, as in fe80::1%eth0.
        if "%" in text:
            raise ValueError
    except ValueError:
        raise ValidationError(
            f"“{text}” isn't an IP address or network. "
            "Use a format such as 203.0.113.7 or 203.0.113.0/24."
        ) from None
    # ApiKey.allows_ip compares IPv4 addresses, so unmap them.
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped is not None and network.prefixlen >= 96:
        return f"{mapped}/{network.prefixlen - 96}"
    return str(network)
