from functools import partial
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.crypto import get_random_string

from accounts.date_display import zone_choices
from accounts.models import Account, User
from accounts.roles import Role
from runtime.unicode import validate_line


class WholeNumberField(forms.IntegerField):
    """An integer field whose errors name both ends of the range."""

    def __init__(self, *, min_value: int, max_value: int, **kwargs: Any) -> None:
        message = f"Enter a whole number from {min_value:,} to {max_value:,}."
        super().__init__(
            min_value=min_value,
            max_value=max_value,
            error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), message),
            **kwargs,
        )


class OneTimeForm(forms.Form):
    """A form whose token identifies a second submission."""

    form_token = forms.RegexField(
        r"^[A-Za-z0-9]{32}$",
        initial=partial(get_random_string, 32),
        widget=forms.HiddenInput,
        error_messages={
            "required": "The form was incomplete. Open this page again and resubmit it.",
            "invalid": "The form was modified. Open this page again and resubmit it.",
        },
    )


class ProfileForm(forms.ModelForm[User]):
    class Meta:
        model = User
        fields = ("name",)
        labels = {"name": "Your name"}
        help_texts = {"name": "Your team sees it in the audit log."}


class PreferencesForm(forms.ModelForm[User]):
    class Meta:
        model = User
        fields = ("theme", "time_zone", "date_format")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", "Same as the browser"), *zone_choices()]
        self.fields["time_zone"] = forms.ChoiceField(choices=choices, required=False)


class AccountForm(forms.ModelForm[Account]):
    class Meta:
        model = Account
        fields = ("name",)
        labels = {"name": "Account name"}
        help_texts = {"name": "Your company or project. Invoices and invitations show it."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # ProfileForm is on the same page and has a `name` too.
        self.auto_id = "account_%s"


class CloseAccountForm(forms.Form):
    name = forms.CharField(widget=forms.TextInput({"autocomplete": "off"}))

    def __init__(self, account: Account, data: QueryDict | None = None) -> None:
        super().__init__(data)
        self.account = account
        self.fields["name"].label = f"Type “{account.name}” to confirm"

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self.account.name.strip():
            raise ValidationError(f"The name doesn't match. Type “{self.account.name}”.")
        return name


class RoleForm(forms.Form):
    """The service checks whether the user may assign the role."""

    role = forms.ChoiceField(choices=Role.choices, initial=Role.DEVELOPER)

    def clean_role(self) -> Role:
        return Role(self.cleaned_data["role"])

    def limit_choices(self, roles: list[Role]) -> None:
        self.fields["role"].choices = [(role.value, role.label) for role in roles]  # type: ignore[attr-defined]


class InviteForm(RoleForm):
    email = forms.EmailField(
        label="Email",
        max_length=254,
        validators=[validate_line],
        widget=forms.EmailInput({"placeholder": "colleague@shop.example"}),
    )
    field_order = ("email", "role")
