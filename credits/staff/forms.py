from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from accounts.forms import OneTimeForm, WholeNumberField
from credits.models import Plan
from credits.models.catalog import MAX_CREDITS
from runtime.unicode import validate_line


def _reason_field(help_text: str = "") -> forms.CharField:
    widget = forms.TextInput({"size": 60})
    return forms.CharField(
        max_length=200, validators=[validate_line], help_text=help_text, widget=widget
    )


class AmountForm(OneTimeForm):
    amount = WholeNumberField(
        min_value=1, max_value=MAX_CREDITS, widget=forms.NumberInput({"inputmode": "numeric"})
    )
    reason = _reason_field("Shown to the customer in their ledger.")


class RefundForm(OneTimeForm):
    """Ask for an amount. The initial one, all that is left, is the maximum."""

    amount = forms.DecimalField(
        decimal_places=2,
        max_digits=12,
        min_value=Decimal("0.01"),
        help_text="The same share of the credits is deducted.",
        widget=forms.TextInput({"inputmode": "decimal", "autocomplete": "off"}),
    )
    reason = _reason_field("Shown to the customer in their ledger and audit log.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["amount"].label = f"Amount in {self.initial['currency']}"

    def clean_amount(self) -> Decimal:
        amount: Decimal = self.cleaned_data["amount"]
        if amount > self.initial["amount"]:
            raise ValidationError(f"At most {self.initial['amount']} can be refunded.")
        return amount


class SuspensionForm(OneTimeForm):
    reason = _reason_field(
        "Shown to the account's members. Write it for them, without names or internal details."
    )


class PlanForm(OneTimeForm):
    plan = forms.ModelChoiceField(Plan.objects.all(), empty_label=None)
    reason = _reason_field()
