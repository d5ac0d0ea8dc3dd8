"""allauth's forms for second factors, which accept each code and assertion only once."""

from typing import Any

from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as code_forms
from allauth.mfa.base.internal.flows import check_rate_limit
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn import forms as passkey_forms
from allauth.mfa.webauthn.internal import auth
from django.core.exceptions import ValidationError

from accounts.authentication import failed_attempts
from accounts.authentication.second_factor import one_time_codes, passkeys
from accounts.authentication.second_factor.factors import authenticator_name

NO_PASSKEY_USED = "Your browser did not use a passkey. Try again, or enter a code."


class SingleUseCodeMixin:
    """Record used codes in the database. allauth's form relies on the cache, which may be down."""

    user: Any
    authenticator: Authenticator

    def clean_code(self) -> str:
        code: str = super().clean_code()  # type: ignore[misc]
        if not one_time_codes.mark_used(self.authenticator, code):
            # Count a failure again: allauth has cleared the count because the code was right.
            check_rate_limit(self.user)
            self._emit_authentication_failed(self.authenticator)  # type: ignore[attr-defined]
            raise get_adapter().validation_error("incorrect_code")
        return code


class CodeForm(SingleUseCodeMixin, code_forms.AuthenticateForm):  # type: ignore[misc]
    pass


class ConfirmCodeForm(SingleUseCodeMixin, code_forms.ReauthenticateForm):  # type: ignore[misc]
    pass


class SingleUseAssertionMixin:
    """Check the origin and the counter. allauth's form verifies the challenge and the signature."""

    cleaned_data: dict[str, Any]

    def clean_credential(self) -> Authenticator:
        response = auth.parse_authentication_response(self.cleaned_data["credential"])
        try:
            passkeys.check_origin(response.response.client_data.origin)
            authenticator: Authenticator = super().clean_credential()  # type: ignore[misc]
            _accept_once(authenticator, response)
        except passkeys.PasskeyRefused as error:
            raise ValidationError(str(error)) from error
        finally:
            # A refused assertion must not be sent again for the same challenge.
            auth.clear_state()
        return authenticator


def _accept_once(authenticator: Authenticator, response: Any) -> None:
    try:
        passkeys.accept_once(authenticator, response)
    except passkeys.CounterDidNotIncrease:
        kind = f"{authenticator_name(authenticator)}, which may have been copied"
        failed_attempts.record_wrong_code(user=authenticator.user, kind=kind, ip=context.request.ip)
        raise


class PasskeyForm(SingleUseAssertionMixin, passkey_forms.AuthenticateWebAuthnForm):  # type: ignore[misc]
    @property
    def notice(self) -> str:
        """Return why the passkey was refused, or what to show if the browser used none."""
        refusals: list[str] = self.errors.get("credential", [])
        return refusals[0] if refusals else NO_PASSKEY_USED


class PasskeySignInForm(SingleUseAssertionMixin, passkey_forms.LoginWebAuthnForm):  # type: ignore[misc]
    pass


class ConfirmPasskeyForm(SingleUseAssertionMixin, passkey_forms.ReauthenticateWebAuthnForm):  # type: ignore[misc]
    pass
