from typing import Any

from allauth.account import forms as allauth_forms
from django import forms

MIN_LENGTH_HELP = "At least 10 characters."
_LABELS = {
    "oldpassword": "Current password",
    "password1": "New password",
    "password2": "Confirm new password",
}


class ChangePasswordForm(allauth_forms.ChangePasswordForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _set_labels(self.fields)


class SetPasswordForm(allauth_forms.SetPasswordForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _set_labels(self.fields)


class ResetPasswordKeyForm(allauth_forms.ResetPasswordKeyForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _set_labels(self.fields)


def _set_labels(fields: dict[str, forms.Field]) -> None:
    for name, field in fields.items():
        field.label = _LABELS[name]
        field.widget.attrs.pop("placeholder", None)
    fields["password1"].help_text = MIN_LENGTH_HELP
