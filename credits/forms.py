from typing import Any

from django import forms

from accounts.forms import OneTimeForm
from credits.models import Plan
from credits.models.catalog import MAX_CREDITS
from credits.orders.lifecycle import Buyer
from runtime.unicode import validate_line


class OrderForm(OneTimeForm):
    """Asks whom to invoice. The URL of the page names the pack or plan, never the form."""

    name = forms.CharField(
        max_length=200,
        label="Name or company",
        validators=[validate_line],
        widget=forms.TextInput({"autocomplete": "organization"}),
    )
    address = forms.CharField(
        required=False,
        max_length=500,
        label="Address (optional)",
        widget=forms.Textarea({"rows": 3, "autocomplete": "street-address"}),
    )
    tax_id = forms.CharField(
        required=False,
        max_length=50,
        label="Tax number (optional)",
        validators=[validate_line],
        widget=forms.TextInput({"autocomplete": "off"}),
    )

    def clean_address(self) -> str:
        lines = self.cleaned_data["address"].splitlines()
        for line in lines:
            validate_line(line)
        return "\n".join(line.strip() for line in lines if line.strip())

    def buyer(self) -> Buyer:
        data = self.cleaned_data
        return Buyer(data["name"], data["address"], data["tax_id"])


class ThresholdForm(forms.Form):
    threshold = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MAX_CREDITS,
        label="Mail us when the balance falls to",
        widget=forms.NumberInput({"inputmode": "numeric"}),
    )

    def __init__(self, plan_default: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["threshold"]
        field.help_text = (
            f"Credits. Empty: {plan_default:,}, as usual for your plan. Owners and Billing get the "
            "mail."
        )


class AmountForm(OneTimeForm):
    """For staff to grant or deduct credits."""

    amount = forms.IntegerField(
        min_value=1, max_value=MAX_CREDITS, widget=forms.NumberInput({"inputmode": "numeric"})
    )
    reason = forms.CharField(
        max_length=200,
        validators=[validate_line],
        help_text="The customer reads it in their ledger.",
        widget=forms.TextInput({"size": 60}),
    )


class ReasonForm(OneTimeForm):
    reason = forms.CharField(
        max_length=200, validators=[validate_line], widget=forms.TextInput({"size": 60})
    )


class ConfirmForm(OneTimeForm):
    """Confirms an action that needs no input."""


class PlanForm(ReasonForm):
    plan = forms.ModelChoiceField(Plan.objects.all(), empty_label=None)
    field_order = ("plan", "reason")
