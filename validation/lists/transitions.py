"""Change the state of a list, and the times that follow from it."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from validation.models import AddressList
from validation.models.list_states import FINAL, State, states_before


def change_state(address_list: AddressList, new: State, **changes: object) -> bool:
    """Change the state if the current one allows it, and return whether it did.

    Ends the lease of a process that parses the list, and sets the times that follow from the state.
    """
    now = timezone.now()
    values: dict[str, object] = {
        "state": new,
        "updated_at": now,
        "leased_until": None,
        "attempts": 0,
        **_find_times(new, now),
        **changes,
    }
    before = AddressList.objects.filter(pk=address_list.pk, state__in=states_before(new))
    if not before.update(**values):
        return False
    for name, value in values.items():
        setattr(address_list, name, value)
    return True


def _find_times(state: State, now: datetime) -> dict[str, datetime | None]:
    if state in FINAL - {State.EXPIRED}:
        return {"finished_at": now, "expires_at": _find_expiry(now)}
    if state == State.READY:
        return {"expires_at": _find_expiry(now)}
    return {} if state == State.EXPIRED else {"expires_at": None}


def _find_expiry(now: datetime) -> datetime:
    return now + timedelta(days=settings.LIST_RETENTION_DAYS)
