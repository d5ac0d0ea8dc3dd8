from collections.abc import Iterable

from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from django.db import transaction

from accounts.models import User
from runtime.encryption import reencrypt

# Recovery codes don't count as a factor.
FACTORS = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
# Keys of allauth's `data`: an app's secret, and the seed of recovery codes.
_ENCRYPTED_FIELDS = ("secret", "seed")
_NAMES = {
    Authenticator.Type.TOTP: "Authenticator app",
    Authenticator.Type.RECOVERY_CODES: "Recovery codes",
}


def has_second_factor(user: User) -> bool:
    return bool(is_mfa_enabled(user, types=FACTORS))


def users_with_second_factor(users: Iterable[User]) -> set[User]:
    factors = Authenticator.objects.filter(user__in=users, type__in=FACTORS)
    having = set(factors.values_list("user_id", flat=True))
    return {user for user in users if user.pk in having}


def is_first_factor(factor: Authenticator) -> bool:
    others = Authenticator.objects.filter(user=factor.user, type__in=FACTORS).exclude(pk=factor.pk)
    return factor.type in FACTORS and not others.exists()


def reencrypt_secrets() -> None:
    """Encrypt secrets under the current SECRET_KEY, daily."""
    authenticators = Authenticator.objects.exclude(type=Authenticator.Type.WEBAUTHN)
    for pk in authenticators.values_list("pk", flat=True):
        with transaction.atomic():
            for factor in Authenticator.objects.select_for_update().filter(pk=pk):
                stored = {name: factor.data.get(name, "") for name in _ENCRYPTED_FIELDS}
                if changes := reencrypt(stored):
                    factor.data |= changes
                    factor.save(update_fields=["data"])


def authenticator_name(authenticator: Authenticator) -> str:
    if authenticator.type == Authenticator.Type.WEBAUTHN:
        return f"Passkey “{authenticator.data.get('name', '')}”"
    return _NAMES[authenticator.type]
