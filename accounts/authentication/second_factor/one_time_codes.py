"""Codes of authenticator apps work once, whatever the cache remembers.

allauth notes used codes in the cache alone: with Redis away, each worker accepted a code once. Here
the database remembers the time step of the last accepted code (RFC 6238, section 5.2).
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
# The clocks of two hosts may differ by so much. A last step further ahead comes from a clock that
# was set back since, which must not lock the user out until it catches up.
CLOCK_STEPS = 2


@transaction.atomic
def use(authenticator: Authenticator, code: str) -> bool:
    """Mark a code that allauth found right as used. Return False if it was used before.

    Of parallel requests with one code the row's lock lets one through. allauth consumes recovery
    codes in the same way.
    """
    if authenticator.type != Authenticator.Type.TOTP:
        return True
    locked = Authenticator.objects.select_for_update().filter(pk=authenticator.pk).first()
    step = _step_of(locked, code) if locked else None
    if locked is None or step is None or _is_used(step, locked.data.get(LAST_STEP, -1)):
        return False
    locked.data[LAST_STEP] = step
    locked.save(update_fields=["data"])
    return True


def _step_of(authenticator: Authenticator, code: str) -> int | None:
    """Return the time step of a code that was right a moment ago, in this step or the last."""
    secret = decrypt(authenticator.data["secret"])
    steps: list[int] = list(yield_hotp_counters_from_time())
    for step in (*reversed(steps), steps[0] - 1):
        if compare_user_code(actual=code, expected=format_hotp_value(hotp_value(secret, step))):
            return step
    return None


def _is_used(step: int, last: int) -> bool:
    return step <= last <= step + CLOCK_STEPS
