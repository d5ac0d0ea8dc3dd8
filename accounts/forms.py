from typing import Any

from allauth.account import forms as allauth_forms
from django import forms
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse

from accounts.models import Account, Membership, User
from accounts.roles import Role, roles_given_by
from accounts.services import open_account

INVITED = "invited"


class LoginForm(allauth_forms.LoginForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_email(self.fields["login"])
        # The page has the link to a new password beside the one to a new account.
        self.fields["password"].help_text = ""


class SignupForm(allauth_forms.SignupForm):  # type: ignore[misc]
    """Makes user, account and membership in one transaction."""

    account_already_exists: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_email(self.fields["email"])
        self.fields["password1"].help_text = "At least 10 characters."

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        if self.account_already_exists:
            # A new user's password is hashed; this way it takes as long.
            make_password(self.cleaned_data["password1"])
            return self._answer(request)
        try:
            return self._answer(request)
        except IntegrityError:
            # The same address signed up in another request in between.
            self.account_already_exists = True
            return self._answer(request)

    def _answer(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        with transaction.atomic():
            user, response = super().try_save(request)
        return user, response

    def save(self, request: HttpRequest) -> User:
        user: User = super().save(request)
        # Who comes by an invitation joins that account; an own one would stand empty beside it.
        if request.session.get(INVITED) != user.email:
            open_account(user=user, ip=getattr(request, "ip", None))
        return user


class ResetPasswordForm(allauth_forms.ResetPasswordForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_email(self.fields["email"])


class ChangeEmailForm(allauth_forms.AddEmailForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_email(self.fields["email"], label="New e-mail")


def _name_email(field: forms.Field, label: str = "E-mail") -> None:
    field.label = label
    field.widget.attrs["placeholder"] = "you@company.com"


class ProfileForm(forms.ModelForm[User]):
    class Meta:
        model = User
        fields = ("name",)
        labels = {"name": "Your name"}
        help_texts = {"name": "Your team sees it beside what you do."}


class AccountForm(forms.ModelForm[Account]):
    class Meta:
        model = Account
        fields = ("name",)
        labels = {"name": "Account name"}
        help_texts = {"name": "Your company or project. Invoices and invitations show it."}


class CloseAccountForm(forms.Form):
    name = forms.CharField(label="Account name", widget=forms.TextInput({"autocomplete": "off"}))

    def __init__(self, account: Account, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.account = account
        self.fields["name"].label = f"Type “{account.name}” to close it"

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self.account.name.strip():
            raise ValidationError(f"This is not the account's name. Type “{self.account.name}”.")
        return name


def role_choices(given_by: str) -> list[tuple[str, str]]:
    return [(role.value, role.label) for role in roles_given_by(Role(given_by))]


class InviteForm(forms.Form):
    email = forms.EmailField(label="E-mail", max_length=254)
    role = forms.ChoiceField(initial=Role.DEVELOPER)

    def __init__(self, membership: Membership, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].choices = role_choices(membership.role)  # type: ignore[attr-defined]
        self.fields["email"].widget.attrs["placeholder"] = "colleague@company.com"

    def clean_role(self) -> Role:
        return Role(self.cleaned_data["role"])


class RoleForm(forms.Form):
    role = forms.ChoiceField()

    def __init__(self, membership: Membership, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].choices = role_choices(membership.role)  # type: ignore[attr-defined]

    def clean_role(self) -> Role:
        return Role(self.cleaned_data["role"])
