from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from django.db import transaction

from accounts.models import User
from runtime.encryption import DecryptionFailed, decrypt, encrypt, is_encrypted

# Recovery codes replace a factor that was lost; alone they are none.
FACTORS = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
# Where allauth keeps what must not be read: an app's secret, and what recovery codes come from.
_SEALED = ("secret", "seed")
_NAMES = {
    Authenticator.Type.TOTP: "Authenticator app",
    Authenticator.Type.RECOVERY_CODES: "Recovery codes",
}


def has_second_factor(user: User) -> bool:
    return bool(is_mfa_enabled(user, types=FACTORS))


def is_first_factor(factor: Authenticator) -> bool:
    """Return whether a factor that was just added is the only one. Recovery codes are none."""
    others = Authenticator.objects.filter(user=factor.user, type__in=FACTORS).exclude(pk=factor.pk)
    return factor.type in FACTORS and not others.exists()


def reencrypt_secrets() -> None:
    """The day's work: what is not sealed under the SECRET_KEY of today is, from then on."""
    for pk in Authenticator.objects.exclude(type=Authenticator.Type.WEBAUTHN).values_list("pk"):
        with transaction.atomic():
            factor = Authenticator.objects.select_for_update().filter(pk=pk[0]).first()
            if factor is not None and _seal(factor.data):
                factor.save(update_fields=["data"])


def _seal(data: dict[str, Any]) -> bool:
    """Whether anything had to be."""
    outdated = [name for name in _SEALED if name in data and not is_encrypted(data[name])]
    try:
        data.update({name: encrypt(decrypt(data[name])) for name in outdated})
    except DecryptionFailed:
        # Nobody can read it any more: its owner needs a new one.
        return False
    return bool(outdated)


def name_of(authenticator: Authenticator) -> str:
    """As our pages call it; a passkey by the name its owner gave it."""
    if authenticator.type == Authenticator.Type.WEBAUTHN:
        return f"Passkey “{authenticator.data.get('name', '')}”"
    return _NAMES[authenticator.type]
