from typing import Any

from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as code_forms
from allauth.mfa.base.internal.flows import check_rate_limit
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn import forms as passkey_forms
from allauth.mfa.webauthn.internal import auth
from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction

from accounts import audit
from accounts.authentication import failed_attempts
from accounts.authentication.second_factor import one_time_codes, passkeys
from accounts.authentication.second_factor.factors import authenticator_name
from accounts.models import User

NO_PASSKEY_USED = "Your browser didn't use a passkey. Try again, or enter a code."


class SingleUseCodeMixin(code_forms.BaseAuthenticateForm):
    """Record used codes in the database: allauth's cache may be down."""

    user: User
    authenticator: Authenticator

    def clean_code(self) -> str:
        code: str = super().clean_code()
        if not one_time_codes.mark_used(self.authenticator, code):
            # Count a failure again: allauth cleared the count, as the code was right.
            check_rate_limit(self.user)
            self._emit_authentication_failed(self.authenticator)
            raise get_adapter().validation_error("incorrect_code")
        return code


class CodeForm(SingleUseCodeMixin, code_forms.AuthenticateForm):
    pass


class ConfirmCodeForm(SingleUseCodeMixin, code_forms.ReauthenticateForm):
    pass


class SingleUseAssertionMixin(passkey_forms.AuthenticateWebAuthnForm):
    """Check the origin and the counter. allauth verifies the challenge and the signature."""

    cleaned_data: dict[str, str]

    def clean_credential(self) -> Authenticator:
        response = auth.parse_authentication_response(self.cleaned_data["credential"])
        try:
            passkeys.check_origin(response.response.client_data.origin)
            authenticator: Authenticator = super().clean_credential()
            passkeys.accept_once(authenticator, response)
        except passkeys.PasskeyRefused as error:
            if isinstance(error, passkeys.CounterDidNotIncrease):
                kind = f"{authenticator_name(authenticator)}, which may have been copied"
                failed_attempts.record_wrong_code(user=authenticator.user, kind=kind)
            raise ValidationError(str(error)) from error
        finally:
            # A refused assertion must not be sent again for the same challenge.
            auth.clear_state()
        return authenticator


class PasskeyForm(SingleUseAssertionMixin, passkey_forms.AuthenticateWebAuthnForm):
    @property
    def notice(self) -> str:
        refusals: list[str] = self.errors.get("credential", [])
        return refusals[0] if refusals else NO_PASSKEY_USED


class PasskeySignInForm(SingleUseAssertionMixin, passkey_forms.LoginWebAuthnForm):
    pass


class ConfirmPasskeyForm(SingleUseAssertionMixin, passkey_forms.ReauthenticateWebAuthnForm):
    pass


class AddPasskeyForm(passkey_forms.AddWebAuthnForm):
    passwordless = forms.BooleanField(
        required=False,
        initial=True,
        label="Sign in without a password",
        help_text="You won't need a code either. Clear this box for an older security key.",
    )

    def clean_credential(self) -> Any:
        credential = self.cleaned_data["credential"]
        response = auth.parse_registration_response(credential)
        try:
            passkeys.check_origin(response.response.client_data.origin)
        except passkeys.PasskeyRefused as error:
            raise ValidationError(str(error)) from error
        return credential


class RenamePasskeyForm(passkey_forms.EditWebAuthnForm):
    instance: Authenticator

    @transaction.atomic
    def save(self) -> Authenticator:
        # A concurrent sign-in updates the signature counter in the same column.
        self.instance = Authenticator.objects.select_for_update().get(pk=self.instance.pk)
        old_name, user = authenticator_name(self.instance), self.instance.user
        renamed = super().save()
        target = f"{old_name} → {authenticator_name(renamed)}"
        audit.record_for_user(user, user, "user.passkey_renamed", target)
        return renamed
