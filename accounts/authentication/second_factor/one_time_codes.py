"""Accept each code of an authenticator app only once, even while the cache is down.

allauth records used codes only in the cache: without Redis, each worker would accept a code once.
Here the database stores the time step of the last accepted code (RFC 6238, section 5.2).
"""

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
# The clocks of two hosts may differ by this many time steps. If the stored step is further ahead,
# the clock was set back since, which must not lock the user out until it catches up.
MAX_CLOCK_SKEW_STEPS = 2


@transaction.atomic
def mark_used(authenticator: Authenticator, code: str) -> bool:
    """Mark a code that allauth has verified as used. Return False if it was used before.

    Parallel requests with the same code wait for the row's lock, and only the first one succeeds.
    allauth consumes recovery codes in the same way.
    """
    if authenticator.type != Authenticator.Type.TOTP:
        return True
    locked = Authenticator.objects.select_for_update().filter(pk=authenticator.pk).first()
    step = _find_time_step(locked, code) if locked else None
    if locked is None or step is None or _is_used(step, locked.data.get(LAST_STEP, -1)):
        return False
    locked.data[LAST_STEP] = step
    locked.save(update_fields=["data"])
    return True


def _find_time_step(authenticator: Authenticator, code: str) -> int | None:
    """Return the time step of a code that was verified in this step or the previous one."""
    secret = decrypt(authenticator.data["secret"])
    steps: list[int] = list(yield_hotp_counters_from_time())
    for step in (*reversed(steps), steps[0] - 1):
        if compare_user_code(actual=code, expected=format_hotp_value(hotp_value(secret, step))):
            return step
    return None


def _is_used(step: int, last_step: int) -> bool:
    return step <= last_step <= step + MAX_CLOCK_SKEW_STEPS
