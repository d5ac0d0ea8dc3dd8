import re
from typing import Any, cast

import idna
from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.template.defaultfilters import pluralize

from accounts.engine import get_engine
from accounts.models import Account
from validation.models import ListedDomain, UnprobedDomain

INVALID_DOMAIN = "Enter a valid domain, such as shop.com."
# For addresses and domains, which a browser must not correct.
VERBATIM = {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
_LINE_BREAK = re.compile(r"\r\n|\r|\n")


def read_lines(text: str) -> dict[int, str]:
    """Return the lines that aren't empty by their number, without spaces around them."""
    lines = enumerate(map(str.strip, _LINE_BREAK.split(text)), 1)
    return {number: line for number, line in lines if line}


class AddressForm(forms.Form):
    """Accepts any text, as the API does: an invalid address is a result."""

    email = forms.CharField(
        label="Address",
        strip=False,
        max_length=320,
        widget=forms.TextInput(
            {**VERBATIM, "inputmode": "email", "placeholder": "jane@shop.example"}
        ),
    )


class PlaygroundForm(AddressForm):
    """Offers mailbox checks where they are on."""

    mailbox = forms.BooleanField(
        required=False,
        label="Also ask the mail server whether the mailbox exists",
        help_text="2 credits for a definite answer.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not settings.PROBE_MAILBOX_CHECKS:
            del self.fields["mailbox"]


class LogDaysForm(forms.Form):
    """Offers times up to LOG_RETENTION_DAYS, which is stored as None to follow the setting."""

    CHOICES = (0, 1, 7, 14, 30, 60, 90, 180, 365)

    log_days = forms.TypedChoiceField(
        coerce=int, empty_value=None, required=False, label="Retention"
    )

    def __init__(self, account: Account, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        max_days = settings.LOG_RETENTION_DAYS
        shorter = [days for days in self.CHOICES if days < max_days]
        field = cast(forms.TypedChoiceField, self.fields["log_days"])
        field.choices = [
            (0, "Don't store requests"),
            *((days, f"{days} day{pluralize(days)}") for days in shorter if days),
            ("", f"{max_days} day{pluralize(max_days)} (maximum)"),
        ]
        field.initial = account.log_days if account.log_days in shorter else ""


def clean_domain(typed: str) -> str:
    """Return a domain that has one owner, in ASCII. An address is cut."""
    try:
        domain = idna.encode(
            typed.strip().rpartition("@")[2].strip("."), uts46=True, std3_rules=True
        ).decode()
    except idna.IDNAError as error:
        raise ValidationError(INVALID_DOMAIN) from error
    if domain.rpartition(".")[2].isdecimal():
        raise ValidationError(INVALID_DOMAIN)
    if get_engine().domain_data.registrable_domain(domain) is None:
        raise ValidationError(
            f"{domain} is a public suffix with many owners. Enter a domain below it."
        )
    return domain


class UnprobedDomainForm(forms.ModelForm[UnprobedDomain]):
    class Meta:
        model = UnprobedDomain
        fields = ("domain", "note")

    def clean_domain(self) -> str:
        return clean_domain(self.cleaned_data["domain"])


class ListedDomainForm(forms.ModelForm[ListedDomain]):
    class Meta:
        model = ListedDomain
        fields = ("domain", "kind", "reason")

    def clean_domain(self) -> str:
        return clean_domain(self.cleaned_data["domain"])

    def clean(self) -> dict[str, object]:
        data = super().clean() or {}
        well_known = {
            *get_engine().domain_data.never_disposable,
            *get_engine().domain_data.typo_targets,
        }
        if data.get("kind") == ListedDomain.Kind.DENY and data.get("domain") in well_known:
            self.add_error("domain", "This is a well-known provider, so it can't be disposable.")
        return data
