"""Checks of passkeys that allauth omits (WebAuthn Level 3, section 7.2).

fido2 accepts subdomains' origins. allauth ignores the counter, and keeps the challenge in the
session, where parallel requests can all use it.
"""

from hashlib import sha256

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction
from fido2.webauthn import AuthenticationResponse

COUNTER, CHALLENGES = "sign_count", "used_challenges"
# Until the session has dropped a challenge, parallel requests can reuse it.
MAX_STORED_CHALLENGES = 20


class PasskeyRefused(Exception):
    """Raised with a text for the user if a passkey isn't accepted."""


class CounterDidNotIncrease(PasskeyRefused):
    """Raised when a copy of the passkey may be in use."""


def check_origin(origin: str) -> None:
    """Refuse passkeys used on other sites, including subdomains."""
    if origin not in settings.PASSKEY_ORIGINS:
        site = settings.PASSKEY_ORIGINS[0]
        raise PasskeyRefused(f"Passkeys only work on {site}. Open the page there and try again.")


@transaction.atomic
def accept_once(authenticator: Authenticator, response: AuthenticationResponse) -> None:
    """Accept a verified assertion once. Parallel requests wait for the row's lock."""
    locked = Authenticator.objects.select_for_update().filter(pk=authenticator.pk).first()
    if locked is None:
        raise PasskeyRefused("This passkey was removed. Sign in another way.")
    challenge = sha256(response.response.client_data.challenge).hexdigest()
    used_challenges = locked.data.get(CHALLENGES, [])
    if challenge in used_challenges:
        raise PasskeyRefused("This sign-in was already used. Use your passkey again.")
    counter = response.response.authenticator_data.counter
    _check_counter(locked, counter)
    locked.data[COUNTER] = counter
    locked.data[CHALLENGES] = [challenge, *used_challenges][:MAX_STORED_CHALLENGES]
    locked.save(update_fields=["data"])


def _check_counter(authenticator: Authenticator, counter: int) -> None:
    """Require a greater counter than the stored one, unless both are zero (step 22)."""
    registered = authenticator.wrap().authenticator_data.counter
    stored = authenticator.data.get(COUNTER, registered)
    if (counter or stored) and counter <= stored:
        raise CounterDidNotIncrease(
            "We refused this passkey because it may have been copied. "
            "Sign in another way, then replace it under Settings → Security."
        )
