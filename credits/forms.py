from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from accounts.forms import OneTimeForm, WholeNumberField
from credits.countries import COUNTRIES
from credits.models import CARD_CONSENT, SavedCard
from credits.models.catalog import MAX_CREDITS
from credits.orders.quotes import Buyer, Quote, QuoteChanged, quote
from credits.orders.tax import InvalidVatId, has_vat_ids, parse_vat_id
from credits.plans.offers import OrderRefused
from runtime.unicode import validate_line

TAX_CHANGED = "Your country or VAT ID changes the tax. Review the new total, then order again."


class TermsField(forms.CharField):
    """A hidden field that shows the current terms, not the posted ones."""

    widget = forms.HiddenInput

    def bound_data(self, data: object, initial: object) -> object:
        return initial


class OrderForm(OneTimeForm):
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
    country = forms.ChoiceField(
        choices=[("", "Select a country"), *COUNTRIES.items()],
        error_messages={"required": "Select your country."},
        widget=forms.Select({"autocomplete": "country"}),
    )
    tax_id = forms.CharField(
        required=False,
        max_length=50,
        label="VAT ID or tax number (optional)",
        validators=[validate_line],
        widget=forms.TextInput({"autocomplete": "off"}),
    )

    save_card = forms.BooleanField(
        required=False, label="Save this card for automatic payments", help_text=CARD_CONSENT
    )

    def __init__(self, quote: Quote, buyer: Buyer, data: Mapping[str, object] | None) -> None:
        self.quote = quote
        super().__init__(data, initial={**asdict(buyer), "terms": quote.terms})
        card = SavedCard.objects.filter(account=quote.account).first()
        if not quote.can_save_card:
            del self.fields["save_card"]
        elif card is not None:
            self.fields["save_card"].label = f"Save this card instead of your {card}"

    def clean(self) -> None:
        super().clean()
        data = self.cleaned_data
        if {"name", "address", "country", "tax_id"} <= data.keys():
            try:
                self.quote = quote(self.quote.account, self.quote.item, self.buyer())
            except OrderRefused as error:
                raise ValidationError(str(error)) from None
            self.initial["terms"] = self.quote.terms
        if self.quote.differs_in_tax(data.get("terms", "")) and "country" in data:
            raise ValidationError(TAX_CHANGED)
        if data.get("terms") != self.quote.terms:
            raise ValidationError(str(QuoteChanged()))

    def clean_address(self) -> str:
        lines = self.cleaned_data["address"].splitlines()
        for line in lines:
            validate_line(line)
        return "\n".join(line.strip() for line in lines if line.strip())

    def clean_tax_id(self) -> str:
        """`country` has been cleaned."""
        country, tax_id = self.cleaned_data.get("country", ""), self.cleaned_data["tax_id"]
        if not tax_id or not has_vat_ids(country):
            return str(tax_id)
        try:
            return parse_vat_id(country, tax_id)
        except InvalidVatId:
            raise ValidationError(
                f"This isn't a valid VAT ID of {COUNTRIES[country]}. Correct it, or leave it empty."
            ) from None

    def buyer(self) -> Buyer:
        data = self.cleaned_data
        return Buyer(data["name"], data["address"], data["tax_id"], data["country"])


class ThresholdForm(forms.Form):
    threshold = WholeNumberField(
        required=False,
        min_value=0,
        max_value=MAX_CREDITS,
        label="Send a low-balance email at",
        widget=forms.NumberInput({"inputmode": "numeric"}),
    )

    def __init__(self, plan_default: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["threshold"].help_text = (
            f"Credits. Leave empty for your plan's default ({plan_default:,}). We email owners and "
            "billing members."
        )
