from collections.abc import Mapping

from django import forms
from django.core.exceptions import ValidationError

from accounts.forms import OneTimeForm
from credits.models import Plan
from credits.models.catalog import MAX_CREDITS
from credits.orders.placement import Buyer
from credits.orders.quotes import Quote, QuoteChanged
from runtime.unicode import validate_line


class TermsField(forms.CharField):
    """Carries the terms of the quote that the page shows, whatever was posted before."""

    widget = forms.HiddenInput

    def bound_data(self, data: object, initial: object) -> object:
        return initial


class OrderForm(OneTimeForm):
    """Asks whom to invoice, and carries the terms that the customer agrees to.

    The URL of the page names the pack or plan, and the price comes from the quote. The posted terms
    are only compared with it.
    """

    terms = TermsField(required=False)
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

    def __init__(self, quote: Quote, buyer: Buyer, data: Mapping[str, object] | None) -> None:
        buyer_fields = {"name": buyer.name, "address": buyer.address, "tax_id": buyer.tax_id}
        super().__init__(data, initial={**buyer_fields, "terms": quote.terms})

    def clean(self) -> None:
        super().clean()
        if self.cleaned_data.get("terms") != self.initial["terms"]:
            raise ValidationError(str(QuoteChanged()))

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
        label="Send a low-balance email at",
        widget=forms.NumberInput({"inputmode": "numeric"}),
    )

    def __init__(
        self,
        plan_default: int,
        data: Mapping[str, object] | None = None,
        initial: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(data, initial=dict(initial or {}))
        field = self.fields["threshold"]
        field.help_text = (
            f"Credits. Leave empty for your plan's default ({plan_default:,}). We email owners and "
            "billing members."
        )


class AmountForm(OneTimeForm):
    """For staff to grant or deduct credits."""

    amount = forms.IntegerField(
        min_value=1, max_value=MAX_CREDITS, widget=forms.NumberInput({"inputmode": "numeric"})
    )
    reason = forms.CharField(
        max_length=200,
        validators=[validate_line],
        help_text="Shown to the customer in their ledger.",
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
