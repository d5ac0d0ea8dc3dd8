from http import HTTPStatus
from typing import Any, cast

from allauth.account import forms as allauth_forms
from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.signup import complete_signup
from allauth.account.utils import get_next_redirect_url
from allauth.core import context
from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import AddWebAuthnForm, EditWebAuthnForm
from allauth.mfa.webauthn.internal.auth import parse_registration_response
from django import forms
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.crypto import get_random_string

from accounts import audit
from accounts.authentication import failed_attempts
from accounts.authentication.rate_limits import may_send_reset
from accounts.authentication.second_factor.factors import name_of
from accounts.authentication.second_factor.passkeys import PasskeyRefused, check_origin
from accounts.engine import engine
from accounts.models import Account, Invitation, User
from accounts.request import SiteRequest
from accounts.retention import forget_unconfirmed
from accounts.roles import Role
from accounts.services import open_account
from accounts.terms import agree_to_terms
from runtime.unicode import validate_line

# In the session: the invitation whose link was opened, and what allauth takes as a proven address.
INVITED = "invited"
PROVEN = "account_verified_email"
# How often a sign-up is tried while others sign up with the same address.
MOST_TRIES = 5


class LoginForm(allauth_forms.LoginForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_email(self.fields["login"])
        # The page has the link to a new password beside the one to a new account.
        self.fields["password"].help_text = ""


class SignupForm(allauth_forms.SignupForm):  # type: ignore[misc]
    """Makes user, account and membership in one transaction."""

    # The address to which a correction was offered: sent again, it is meant as it stands.
    typed_email = forms.CharField(required=False, widget=forms.HiddenInput)
    correction: str | None = None
    data: QueryDict
    account_already_exists: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_email(self.fields["email"])
        self.fields["password1"].help_text = "At least 10 characters."

    def clean_email(self) -> str:
        """Nobody is kept out because the DNS could not tell, or a domain is set aside for tests."""
        email: str = super().clean_email()
        checked = engine().check_for_sign_up(email)
        if checked.is_disposable:
            raise ValidationError(
                "This is a throw-away address. Use one at which you can be reached next month."
            )
        if checked.did_you_mean and self.data.get("typed_email") != email:
            self.correction = checked.did_you_mean
            self.data = self.data.copy()
            self.data["typed_email"] = email
            raise ValidationError(
                f"Did you mean {self.correction}? If {email} is right, send the form again."
            )
        return email

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        # Before anything that depends on the address, and outside the transaction: it is slow.
        self.hashed_password = make_password(self.cleaned_data["password1"])
        for _ in range(MOST_TRIES - 1):
            try:
                return self._answer(request)
            except IntegrityError:
                # Another request signed up with the same address in between.
                self.account_already_exists = True
        return self._answer(request)

    @transaction.atomic
    def _answer(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Save the user and send the code together: a sign-up that is refused saves nothing."""
        email = self.cleaned_data["email"]
        self.invitation = _invitation_at_hand(request, email)
        # Nobody has proven that the address is theirs: whoever signs up now may begin afresh.
        if self.account_already_exists and forget_unconfirmed(email=email):
            self.account_already_exists = False
        user, response = super().try_save(request)
        if user is not None:
            next_page = get_next_redirect_url(request)
            response = complete_signup(request, user=user, redirect_url=next_page)
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            transaction.set_rollback(True)
        return user, response

    def save(self, request: HttpRequest) -> User:
        user: User = super().save(request)
        ip = getattr(request, "ip", None)
        # Who comes by an invitation joins that account; an own one would stand empty beside it.
        account = open_account(user=user, ip=ip) if self.invitation is None else None
        # The page says beside its button that this is what the button does.
        agree_to_terms(user=user, account=account, ip=ip)
        return user


def _invitation_at_hand(request: HttpRequest, email: str) -> Invitation | None:
    """The invitation whose link this browser opened, if it still waits for this address."""
    waiting = Invitation.objects.waiting().filter(public_id=request.session.get(INVITED, ""))
    invitation = waiting.filter(email=email).first()
    if invitation is None or not invitation.is_backed():
        # Without it the link proves nothing any more.
        request.session.pop(PROVEN, None)
        return None
    return invitation


class ResetPasswordForm(allauth_forms.ResetPasswordForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_email(self.fields["email"])

    def clean_email(self) -> str:
        """Who never confirmed their sign-up has no account yet: they sign up again."""
        email: str = super().clean_email()
        unconfirmed = User.objects.never_confirmed().filter(email=email.lower())
        if unconfirmed.exists():
            self.users: list[User] = []
        return email

    def save(self, request: SiteRequest, **kwargs: Any) -> str:
        """Send the link, unless there were too many: the next page is the same."""
        if not may_send_reset(request, self.cleaned_data["email"]):
            return str(self.cleaned_data["email"])
        email: str = super().save(request, **kwargs)
        for user in self.users:
            failed_attempts.record_reset_request(user=user, ip=request.ip)
        return email


class ConfirmEmailForm(allauth_forms.ConfirmEmailVerificationCodeForm):  # type: ignore[misc]
    """Checks the code that proves a mailbox, at the sign-up and when an address is changed."""

    def clean_code(self) -> str:
        adapter = get_adapter()
        if not compare_user_code(actual=self.cleaned_data["code"], expected=self.expected_code):
            raise adapter.validation_error("incorrect_code")
        # Two changes of one user wait for each other here. A sign-up that has become void has no
        # user any more.
        users = User.objects.select_for_update(no_key=True)
        if self.user is None or users.filter(pk=self.user.pk).first() is None:
            raise adapter.validation_error("incorrect_code")
        forget_unconfirmed(email=self.email, but=self.user)
        return cast(str, super().clean_code())


class ChangeEmailForm(allauth_forms.AddEmailForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_email(self.fields["email"], label="New e-mail")

    def save(self, request: SiteRequest) -> Any:
        asked = super().save(request)
        email = self.cleaned_data["email"]
        audit.record_for_user(
            self.user, self.user, "user.email_change_asked", f"to {email}", request.ip
        )
        return asked


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    passwordless = forms.BooleanField(
        required=False,
        initial=True,
        label="Sign in with it alone",
        help_text="No password or code is needed then. Untick it for an older security key.",
    )

    def clean_credential(self) -> Any:
        credential = self.cleaned_data["credential"]
        response = parse_registration_response(credential)
        try:
            check_origin(response.response.client_data.origin)
        except PasskeyRefused as refused:
            raise ValidationError(str(refused)) from refused
        return credential


class RenamePasskeyForm(EditWebAuthnForm):  # type: ignore[misc]
    instance: Authenticator

    @transaction.atomic
    def save(self) -> Authenticator:
        # A sign-in at the same moment writes its counter into the same column.
        self.instance = Authenticator.objects.select_for_update().get(pk=self.instance.pk)
        before, user = name_of(self.instance), self.instance.user
        renamed = super().save()
        target = f"{before} → {name_of(renamed)}"
        audit.record_for_user(user, user, "user.passkey_renamed", target, context.request.ip)
        return renamed


def _name_email(field: forms.Field, label: str = "E-mail") -> None:
    field.label = label
    # Django lets some through that nobody can see, in the domain.
    field.validators.append(validate_line)
    field.widget.attrs["placeholder"] = "you@company.com"


class OneTimeForm(forms.Form):
    """Each page of it does one thing: sent again, it is recognised by its token."""

    form_token = forms.RegexField(
        r"^[A-Za-z0-9]{32}$",
        widget=forms.HiddenInput,
        error_messages={
            "required": "The form came back incomplete. Open this page again.",
            "invalid": "The form came back changed. Open this page again.",
        },
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["form_token"].initial = get_random_string(32)


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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # It stands on one page with the form of the person's name.
        self.auto_id = "account_%s"


class CloseAccountForm(forms.Form):
    name = forms.CharField(widget=forms.TextInput({"autocomplete": "off"}))

    def __init__(self, account: Account, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.account = account
        self.fields["name"].label = f"Type “{account.name}” to close it"

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self.account.name.strip():
            raise ValidationError(f"This is not the account's name. Type “{self.account.name}”.")
        return name


class RoleForm(forms.Form):
    """Any role is well formed; which of them this member may give, the service judges."""

    role = forms.ChoiceField(choices=Role.choices, initial=Role.DEVELOPER)

    def clean_role(self) -> Role:
        return Role(self.cleaned_data["role"])

    def offer(self, roles: list[Role]) -> None:
        self.fields["role"].choices = [(role.value, role.label) for role in roles]  # type: ignore[attr-defined]


class InviteForm(RoleForm):
    email = forms.EmailField(label="E-mail", max_length=254, validators=[validate_line])
    field_order = ("email", "role")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].widget.attrs["placeholder"] = "colleague@company.com"
