from http import HTTPStatus
from typing import Any, cast

from allauth.account import forms as allauth_forms
from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.signup import complete_signup
from allauth.account.utils import get_next_redirect_url
from allauth.core.internal.cryptokit import compare_user_code
from django import forms
from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, QueryDict

from accounts import audit
from accounts.authentication import failed_attempts
from accounts.authentication.passwords.forms import MIN_LENGTH_HELP
from accounts.authentication.rate_limits import may_send_reset
from accounts.engine import get_engine
from accounts.models import Invitation, User
from accounts.request import SiteRequest
from accounts.retention import delete_unconfirmed_sign_up
from accounts.services import agree_to_terms, open_account
from engine import SIGN_UP
from runtime.unicode import validate_line

INVITATION_SESSION_KEY = "invited"
# allauth's session key for an address that needs no code.
VERIFIED_EMAIL_SESSION_KEY = "account_verified_email"
DISPOSABLE = "This is a disposable address. Use one that you'll still have next month."
# Concurrent sign-ups with one address make each other retry.
MAX_SIGN_UP_ATTEMPTS = 5


class LoginForm(allauth_forms.LoginForm):
    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        _set_up_email_field(self.fields["login"])
        self.fields["password"].help_text = ""


class SignupForm(allauth_forms.SignupForm):
    # The address that got a suggestion. Submitted again, it is accepted.
    typed_email = forms.CharField(required=False, widget=forms.HiddenInput)
    correction: str | None = None
    data: QueryDict
    account_already_exists: bool

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        _set_up_email_field(self.fields["email"])
        self.fields["password1"].help_text = MIN_LENGTH_HELP

    def clean_email(self) -> str:
        """Refuse disposable addresses and suggest corrections. DNS failures refuse nothing."""
        email: str = super().clean_email()
        finding = get_engine().check(email, scope=SIGN_UP)
        if finding.checks.get("disposable"):
            raise ValidationError(DISPOSABLE)
        if finding.did_you_mean and self.data.get("typed_email") != email:
            self.correction = finding.did_you_mean
            self.data = self.data.copy()
            self.data["typed_email"] = email
            raise ValidationError(
                f"Did you mean {self.correction}? If {email} is correct, submit the form again."
            )
        return email

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        # Outside the transaction, as it is slow. For taken addresses too, or the time reveals them.
        self.hashed_password = make_password(self.cleaned_data["password1"])
        for _ in range(MAX_SIGN_UP_ATTEMPTS - 1):
            try:
                return self._sign_up(request)
            except IntegrityError:
                self.account_already_exists = True
        return self._sign_up(request)

    @transaction.atomic
    def _sign_up(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Save the user and queue the code together, or neither."""
        email = self.cleaned_data["email"]
        self.invitation = opened_invitation(request, email)
        if self.account_already_exists and delete_unconfirmed_sign_up(email=email):
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
        # Invited users join the inviter's account instead.
        account = open_account(user=user) if self.invitation is None else None
        agree_to_terms(user=user, account=account)
        return user


def opened_invitation(request: HttpRequest, email: str) -> Invitation | None:
    public_id = request.session.get(INVITATION_SESSION_KEY, "")
    invitation = Invitation.objects.pending().filter(public_id=public_id, email=email).first()
    if invitation is None or not invitation.has_authorized_inviter():
        # Without a valid invitation, the link no longer proves the address.
        request.session.pop(VERIFIED_EMAIL_SESSION_KEY, None)
        return None
    return invitation


class ResetPasswordForm(allauth_forms.ResetPasswordForm):
    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        _set_up_email_field(self.fields["email"])

    def clean_email(self) -> str:
        """Ignore unconfirmed users, who have to sign up again."""
        email: str = super().clean_email()
        unconfirmed = User.objects.never_confirmed().filter(email=email.lower())
        if unconfirmed.exists():
            self.users: list[User] = []
        return email

    def save(self, request: SiteRequest, **kwargs: object) -> str:
        """Send the link within the rate limits. The next page is the same either way."""
        if not may_send_reset(request, self.cleaned_data["email"]):
            return str(self.cleaned_data["email"])
        email: str = super().save(request, **kwargs)
        for user in self.users:
            failed_attempts.record_reset_request(user=user)
        return email


class ConfirmEmailForm(allauth_forms.ConfirmEmailVerificationCodeForm):
    def clean_code(self) -> str:
        adapter = get_adapter()
        if not compare_user_code(actual=self.cleaned_data["code"], expected=self.expected_code):
            raise adapter.validation_error("incorrect_code")
        # The lock serializes changes of one user, whom a later sign-up may have deleted.
        users = User.objects.select_for_update(no_key=True)
        if self.user is None or users.filter(pk=self.user.pk).first() is None:
            raise adapter.validation_error("incorrect_code")
        delete_unconfirmed_sign_up(email=self.email, keep=self.user)
        return cast(str, super().clean_code())


class ChangeEmailForm(allauth_forms.AddEmailForm):
    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        _set_up_email_field(self.fields["email"], label="New email")

    def save(self, request: SiteRequest) -> Any:
        verification = super().save(request)
        email = self.cleaned_data["email"]
        audit.record_for_user(self.user, self.user, "user.email_change_asked", f"to {email}")
        return verification


def _set_up_email_field(field: forms.Field, label: str = "Email") -> None:
    field.label = label
    # Django's validator allows invisible characters in the domain.
    field.validators.append(validate_line)
    field.widget.attrs["placeholder"] = "you@shop.example"
