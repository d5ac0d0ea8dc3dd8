from typing import Any

from allauth.account import forms as allauth_forms
from django import forms

MIN_LENGTH_HELP = "At least 10 characters."
_LABELS = {
    "oldpassword": "Current password",
    "password1": "New password",
    "password2": "Confirm new password",
}


class _Labeled:
    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.label = _LABELS[name]
            field.widget.attrs.pop("placeholder", None)
        self.fields["password1"].help_text = MIN_LENGTH_HELP


class ChangePasswordForm(_Labeled, allauth_forms.ChangePasswordForm):
    pass


class SetPasswordForm(_Labeled, allauth_forms.SetPasswordForm):
    pass


class ResetPasswordKeyForm(_Labeled, allauth_forms.ResetPasswordKeyForm):
    pass
