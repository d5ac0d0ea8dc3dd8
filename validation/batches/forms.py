import re

from django import forms
from django.core.exceptions import ValidationError

from validation.api import MAX_EMAIL_LENGTH
from validation.batches.services import MAX_ADDRESSES

_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class BatchForm(forms.Form):
    """Accepts any text, as the API does: an invalid address is a result."""

    emails = forms.CharField(
        label="Addresses",
        help_text="One address per line. Empty lines are ignored, and spaces around an address are "
        "removed.",
        strip=False,
        error_messages={"required": "Enter at least one address."},
        widget=forms.Textarea(
            attrs={
                "rows": 10,
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
                "inputmode": "email",
                "wrap": "off",
                "placeholder": "jane@shop.example\njohn@shop.example",
            }
        ),
    )

    def clean_emails(self) -> dict[int, str]:
        text: str = self.cleaned_data["emails"]
        lines = enumerate(map(str.strip, _LINE_BREAK.split(text)), 1)
        addresses = {number: line for number, line in lines if line}
        if not addresses:
            raise ValidationError("Enter at least one address.")
        if len(addresses) > MAX_ADDRESSES:
            raise ValidationError(
                f"You entered {len(addresses):,} addresses, and a batch has at most "
                f"{MAX_ADDRESSES}. Split them into several batches."
            )
        for number, address in addresses.items():
            if len(address) > MAX_EMAIL_LENGTH:
                raise ValidationError(
                    f"Line {number} has {len(address):,} characters, and an address has at most "
                    f"{MAX_EMAIL_LENGTH}. Shorten or remove it."
                )
        return addresses
