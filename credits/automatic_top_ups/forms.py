from collections.abc import Mapping
from decimal import Decimal

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from accounts.forms import WholeNumberField
from accounts.models import Account
from credits.automatic_top_ups.rules import offered_price
from credits.models import AutomaticTopUp, Pack
from credits.models.automatic_top_ups import MIN_THRESHOLD
from credits.models.catalog import MAX_CENTS, MAX_CREDITS
from credits.money import format_money


class PackField(forms.ModelChoiceField[Pack]):
    def __init__(self, account: Account) -> None:
        self.account = account
        super().__init__(
            Pack.objects.offered(), empty_label=None, label="Buy", help_text="Tax is included."
        )

    def label_from_instance(self, pack: Pack) -> str:
        cents = offered_price(self.account, pack)
        return f"{pack} for {format_money(cents, settings.CURRENCY)}" if cents else str(pack)


_MAX_CAP = Decimal(MAX_CENTS) / 100
_CAP_RANGE = f"Enter an amount from 0.01 to {_MAX_CAP:,.0f}."


class AutomaticTopUpForm(forms.Form):
    threshold = WholeNumberField(
        min_value=MIN_THRESHOLD,
        max_value=MAX_CREDITS,
        label="When the balance falls below",
        help_text=f"Credits, at least {MIN_THRESHOLD}.",
        widget=forms.NumberInput({"inputmode": "numeric"}),
    )
    cap = forms.DecimalField(
        min_value=Decimal("0.01"),
        max_value=_MAX_CAP,
        decimal_places=2,
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), _CAP_RANGE),
        widget=forms.NumberInput({"inputmode": "decimal", "step": "0.01"}),
    )

    def __init__(
        self, account: Account, top_up: AutomaticTopUp | None, data: Mapping[str, object] | None
    ) -> None:
        super().__init__(data)
        if top_up is not None:
            self.initial = {"threshold": top_up.threshold, "pack": top_up.pack}
            if top_up.currency == settings.CURRENCY:
                self.initial["cap"] = Decimal(top_up.cap_cents) / 100
        self.account = account
        self.fields["pack"] = PackField(account)
        self.order_fields(["threshold", "pack", "cap"])
        cap = self.fields["cap"]
        cap.label = f"Spend at most ({settings.CURRENCY})"
        cap.help_text = (
            "Per calendar month (UTC), tax included. Automatic top-up never charges more."
        )

    def clean(self) -> None:
        super().clean()
        data = self.cleaned_data
        if "cap" in data:
            data["cap_cents"] = int(data.pop("cap") * 100)
        cents = offered_price(self.account, data["pack"]) if "pack" in data else None
        if cents is not None and data.get("cap_cents", cents) < cents:
            price = format_money(cents, settings.CURRENCY)
            raise ValidationError({"cap": f"The pack costs {price}. Enter at least that much."})
