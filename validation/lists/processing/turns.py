"""Decide which list a process works on next: accounts take turns, and so do an account's lists."""

import itertools

from django.db.models import F, Q
from django.utils import timezone

from validation.models import AddressList
from validation.models.list_states import State


class Turns:
    """Remembers in which order this process served accounts."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        # The number of each account's last turn. Accounts without a started list have none.
        self._last: dict[int, int] = {}

    def lists(self) -> list[int]:
        """Return the ids of the lists that may have work, those that waited longest first."""
        now = timezone.now()
        waiting = Q(state=State.RECHECKING, recheck_at__gt=now)
        lists = AddressList.objects.workable().of_active_accounts().exclude(waiting)
        by_age = lists.order_by(F("served_at").asc(nulls_first=True), "pk")
        rows = list(by_age.values_list("pk", "account_id"))
        self._last = {account: self._last.get(account, 0) for _, account in rows}
        # The sort is stable: an account's lists stay in their order.
        rows.sort(key=lambda row: self._last[row[1]])
        return [pk for pk, _ in rows]

    def record(self, address_list: AddressList) -> None:
        """Record that the list is being served."""
        self._last[address_list.account_id] = next(self._numbers)
        AddressList.objects.filter(pk=address_list.pk).update(served_at=timezone.now())
