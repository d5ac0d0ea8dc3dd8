"""Checks that allauth omits when it verifies a passkey (WebAuthn Level 3, section 7.2).

fido2 accepts the origin of any subdomain. allauth ignores the signature counter, and stores the
challenge in the session, where parallel requests can all use it.
"""

from hashlib import sha256

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction
from fido2.webauthn import AuthenticationResponse

COUNTER, CHALLENGES = "sign_count", "used_challenges"
# Parallel requests can reuse a challenge for a few seconds, until the session has dropped it.
MAX_STORED_CHALLENGES = 20


class PasskeyRefused(Exception):
    """Raised if a passkey is refused. The text is shown to the user."""


class CounterDidNotIncrease(PasskeyRefused):
    """Raised if a copy of the passkey may be in use."""


def check_origin(origin: str) -> None:
    """Refuse a passkey that was used on another site, including a subdomain of this one."""
    if origin not in settings.PASSKEY_ORIGINS:
        site = settings.PASSKEY_ORIGINS[0]
        raise PasskeyRefused(f"Passkeys only work on {site}. Open the page there and try again.")


@transaction.atomic
def accept_once(authenticator: Authenticator, response: AuthenticationResponse) -> None:
    """Accept a verified assertion once.

    Parallel requests with the same assertion wait for the row's lock, and only the first succeeds.
    """
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
    """Step 22: unless both counters are zero, the new one must be greater than the stored one."""
    registered = authenticator.wrap().authenticator_data.counter
    stored = authenticator.data.get(COUNTER, registered)
    if (counter or stored) and counter <= stored:
        raise CounterDidNotIncrease(
            "We refused this passkey because it may have been copied. "
            "Sign in another way, then replace it under Settings → Security."
        )
