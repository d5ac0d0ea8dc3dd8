from typing import Any, cast

import idna
from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.template.defaultfilters import pluralize

from accounts.engine import engine
from accounts.models import Account
from validation.engine.domain_data import read_data_file
from validation.models import ListedDomain


class AddressForm(forms.Form):
    """As the API takes it: nothing is trimmed, and what is no address is a result."""

    email = forms.CharField(
        label="Address",
        strip=False,
        max_length=320,
        widget=forms.TextInput(
            attrs={
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
                "inputmode": "email",
                "placeholder": "jane@company.com",
            }
        ),
    )


class LogDaysForm(forms.Form):
    """The longest time is the operator's, and follows it when that is changed."""

    OFFERED = (0, 1, 7, 14, 30, 60, 90, 180, 365)

    log_days = forms.TypedChoiceField(
        coerce=int, empty_value=None, required=False, label="Keep requests"
    )

    def __init__(self, account: Account, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        longest = settings.LOG_RETENTION_DAYS
        shorter = [days for days in self.OFFERED if days < longest]
        field = cast(forms.TypedChoiceField, self.fields["log_days"])
        field.choices = [
            *((days, _in_words(days)) for days in shorter),
            ("", f"For {longest} day{pluralize(longest)}, the longest"),
        ]
        field.initial = account.log_days if account.log_days in shorter else ""


def _in_words(days: int) -> str:
    return f"For {days} day{pluralize(days)}" if days else "Not at all: store none"


class ListedDomainForm(forms.ModelForm[ListedDomain]):
    class Meta:
        model = ListedDomain
        fields = ("domain", "kind", "reason")

    def clean_domain(self) -> str:
        """In ASCII and small, as the engine compares it."""
        typed = self.cleaned_data["domain"].strip().rpartition("@")[2].strip(".")
        try:
            domain = idna.encode(typed, uts46=True, std3_rules=True).decode()
        except idna.IDNAError as error:
            raise ValidationError("This is no domain name: one such as shop.com is.") from error
        if engine().lists.registrable(domain) is None:
            raise ValidationError(
                f"{domain} is not one owner's domain: all of its owners would be listed."
            )
        return domain

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        well_known = {*read_data_file("never_disposable").entries, *engine().lists.typo_targets}
        if data.get("kind") == ListedDomain.Kind.DENY and data.get("domain") in well_known:
            self.add_error("domain", "Millions have their mail there: it is never disposable.")
        return data
