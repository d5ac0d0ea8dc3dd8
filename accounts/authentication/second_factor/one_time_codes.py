"""Accept each code once (RFC 6238, section 5.2): allauth's cache of used codes may be down."""

from allauth.core.internal.cryptokit import compare_user_code
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from allauth.mfa.utils import decrypt
from django.db import transaction

LAST_STEP = "last_step"
# How far the clocks of hosts may differ. If the stored step is further ahead, the clock was set
# back, which must not lock the user out.
MAX_CLOCK_SKEW_STEPS = 2


@transaction.atomic
def mark_used(authenticator: Authenticator, code: str) -> bool:
    """Return False if the code was used before.

    The row's lock lets only one of several parallel requests succeed.
    """
    if authenticator.type != Authenticator.Type.TOTP:
        return True
    locked = Authenticator.objects.select_for_update().filter(pk=authenticator.pk).first()
    step = _find_time_step(locked, code) if locked else None
    if locked is None or step is None:
        return False
    if step <= locked.data.get(LAST_STEP, -1) <= step + MAX_CLOCK_SKEW_STEPS:
        return False
    locked.data[LAST_STEP] = step
    locked.save(update_fields=["data"])
    return True


def _find_time_step(authenticator: Authenticator, code: str) -> int | None:
    """Return the code's time step. A new one may have begun since it was verified."""
    secret = decrypt(authenticator.data["secret"])
    steps: list[int] = list(yield_hotp_counters_from_time())
    for step in (*reversed(steps), steps[0] - 1):
        if compare_user_code(actual=code, expected=format_hotp_value(hotp_value(secret, step))):
            return step
    return None
