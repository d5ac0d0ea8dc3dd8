"""allauth's forms that set a password, with labels in sentence case."""

from typing import Any

from allauth.account import forms as allauth_forms


class _LabelsMixin:
    fields: dict[str, Any]

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        labels = {
            "oldpassword": "Current password",
            "password1": "New password",
            "password2": "Confirm new password",
        }
        for name, field in self.fields.items():
            field.label = labels[name]
            field.widget.attrs.pop("placeholder", None)


class ChangePasswordForm(_LabelsMixin, allauth_forms.ChangePasswordForm):
    pass


class SetPasswordForm(_LabelsMixin, allauth_forms.SetPasswordForm):
    pass


class ResetPasswordKeyForm(_LabelsMixin, allauth_forms.ResetPasswordKeyForm):
    pass
