"""Lists in the admin: the list of lists, canceling, and the panel about stuck lists."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Account, AuditEntry, Membership, User
from accounts.services import suspend_account
from credits.models import Wallet
from lists.lifecycle import Start, start_list
from lists.models import AddressList
from lists.models.states import ListState
from tests.accounts.staff.staff_pages import client_in_group, front_page, panel_text
from tests.conftest import signed_in
from tests.lists.results_factory import make_ready_list, set_state

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

CHANGELIST = reverse("admin:lists_addresslist_changelist")
# Relative to the test's own clock: tests are collected minutes before some of them run.
LONG_AGO = timedelta(minutes=-11)
NOW = timedelta()
SOON = timedelta(minutes=5)


def set_times(made: AddressList, state: ListState, **times: timedelta) -> None:
    now = timezone.now()
    set_state(made, state, **{name: now + time for name, time in times.items()})


def shown(client: Client, **query: str) -> str:
    response = client.get(CHANGELIST, query)
    assert response.status_code == 200
    return response.content.decode()


def cancel(client: Client, address_list: AddressList) -> Any:
    form = {"action": "cancel", "_selected_action": [str(address_list.pk)]}
    return client.post(CHANGELIST, form, follow=True)


def test_lists_are_found_by_id_and_account_but_show_no_rows(staff: User, account: Account) -> None:
    made = make_ready_list(account)
    client = signed_in(staff)
    for text in (made.public_id, account.public_id, account.name):
        assert made.public_id in shown(client, q=text)
    assert made.public_id not in shown(client, q="lst_other")
    page = client.get(reverse("admin:lists_addresslist_change", args=[made.pk])).content.decode()
    assert made.public_id in page
    assert "sandbox.test" not in page
    assert "preview" not in page.lower()


def test_support_can_cancel_a_list(account: Account) -> None:
    balance = Wallet.objects.get(account=account).balance
    made = make_ready_list(account)
    start_list(address_list=made, start=Start(), actor=None)
    response = cancel(client_in_group("Support"), made)
    assert f"Canceled: {made.public_id}." in response.content.decode()
    made.refresh_from_db()
    assert made.state == ListState.CANCELED
    assert Wallet.objects.get(account=account).balance == balance
    entry = AuditEntry.objects.get(action="list.canceled")
    assert "support@service.example" in (entry.actor_name, getattr(entry.actor, "email", ""))


def test_list_that_has_ended_is_not_canceled(account: Account) -> None:
    made = make_ready_list(account)
    set_state(made, ListState.COMPLETED)
    response = cancel(client_in_group("Support"), made)
    assert "Canceled: none." in response.content.decode()


def test_finance_cannot_cancel_a_list(account: Account) -> None:
    made = make_ready_list(account)
    cancel(client_in_group("Finance"), made)
    made.refresh_from_db()
    assert made.state == ListState.READY


def test_staff_cannot_cancel_lists_of_their_own_account(staff: User, account: Account) -> None:
    Membership.objects.create(account=account, user=staff, role="owner")
    made = make_ready_list(account)
    response = cancel(signed_in(staff), made)
    assert "You are a member of this account" in response.content.decode()
    made.refresh_from_db()
    assert made.state == ListState.READY


def test_list_that_no_process_works_on_is_stuck(account: Account) -> None:
    for state, times in (
        (ListState.QUEUED, {"started_at": LONG_AGO}),
        (ListState.RUNNING, {"started_at": LONG_AGO, "served_at": LONG_AGO}),
        (ListState.PARSING, {"updated_at": LONG_AGO}),
        (ListState.PARSING, {"updated_at": LONG_AGO, "leased_until": LONG_AGO}),
        (ListState.RECHECKING, {"recheck_at": LONG_AGO, "served_at": LONG_AGO}),
        (ListState.RECHECKING, {"served_at": LONG_AGO}),
        (ListState.RUNNING, {"served_at": LONG_AGO, "collect_at": LONG_AGO}),
    ):
        made = account.lists.create()
        set_times(made, state, **times)
        assert AddressList.objects.stuck().count() == 1, (state, times)
        made.delete()


def test_other_lists_are_not_stuck(account: Account) -> None:
    for state, times in (
        (ListState.QUEUED, dict[str, timedelta]()),
        (ListState.RUNNING, {"started_at": LONG_AGO, "served_at": NOW}),
        # Mail servers are asked.
        (ListState.RUNNING, {"served_at": LONG_AGO, "collect_at": SOON}),
        (ListState.PAUSED, {"served_at": LONG_AGO}),
        (ListState.READY, {"updated_at": LONG_AGO}),
        (ListState.PARSING, {"updated_at": LONG_AGO, "leased_until": SOON}),
        (ListState.RECHECKING, {"recheck_at": NOW, "served_at": LONG_AGO}),
    ):
        made = account.lists.create()
        set_times(made, state, **times)
        assert AddressList.objects.stuck().count() == 0, (state, times)
        made.delete()


def test_stuck_lists_are_shown_unless_of_suspended_accounts(staff: User, account: Account) -> None:
    made = account.lists.create()
    set_times(made, ListState.QUEUED, started_at=LONG_AGO)
    client = signed_in(staff)
    text = panel_text(front_page(client), "Stuck lists")
    for words in (made.public_id, "Stuck 1", "manage.py run_lists"):
        assert words in text
    assert made.public_id in shown(client, state="stuck")
    suspend_account(account=account, actor=staff)
    text = panel_text(front_page(client), "Stuck lists")
    assert "Stuck 0" in text
    assert "No list is stuck." in text
