from django import forms
from django.core.exceptions import ValidationError

from validation.api import MAX_EMAIL_LENGTH
from validation.batches.services import MAX_ADDRESSES
from validation.forms import VERBATIM, read_lines


class BatchForm(forms.Form):
    """Accepts any text, as the API does: an invalid address is a result."""

    emails = forms.CharField(
        label="Addresses",
        help_text="One address per line. Empty lines are ignored, and spaces around an address are "
        "removed.",
        strip=False,
        error_messages={"required": "Enter at least one address."},
        widget=forms.Textarea(
            {
                **VERBATIM,
                "rows": 10,
                "inputmode": "email",
                "wrap": "off",
                "placeholder": "jane@shop.example\njohn@shop.example",
            }
        ),
    )

    def clean_emails(self) -> dict[int, str]:
        addresses = read_lines(self.cleaned_data["emails"])
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
