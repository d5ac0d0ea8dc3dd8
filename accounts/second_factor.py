from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled

from accounts.models import User

# Recovery codes stand in for a factor that was lost; alone they are none.
_FACTORS = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]


def has_second_factor(user: User) -> bool:
    return bool(is_mfa_enabled(user, types=_FACTORS))
