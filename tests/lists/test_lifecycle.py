"""Starting, pausing, resuming and canceling lists: states, credits, audit entries, and races."""

from collections.abc import Callable
from datetime import timedelta
from itertools import product
from typing import Any, NamedTuple

import pytest
from django.utils import timezone

from accounts.models import Account, AuditEntry, User
from accounts.services import close_account, suspend_account
from apikeys.actor import Actor
from apikeys.errors import ApiError
from apikeys.models import ApiKey
from credits.models import Hold
from credits.services import deduct
from credits.wallet.charges import Charge, InsufficientCredits
from credits.wallet.holds import charge_hold, release_hold
from lists.deletion.batch_delete import sweep_once
from lists.lifecycle import (
    InvalidState,
    Start,
    cancel_list,
    cancel_long_paused,
    choose_encoding,
    finish_list,
    pause_list,
    resume_list,
    start_list,
)
from lists.models import AddressList, ListPart
from lists.models.states import ListState
from lists.processing.running import work_once
from tests.lists.factory import make_list, make_started_list
from tests.lists.runs import BALANCE, wallet, work
from tests.lists.uploads import parse, rows_of, upload_and_parse

# test_races.py runs the operations on both databases.
pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

EMAILS = [f"customer{number}@shop{number}.com" for number in range(20)]


def start(address_list: AddressList, **choices: Any) -> AddressList:
    return start_list(address_list=address_list, start=Start(**choices), actor=None)


def state_of(address_list: AddressList) -> str:
    return str(AddressList.objects.values_list("state", flat=True).get(pk=address_list.pk))


class Operation(NamedTuple):
    run: Callable[[AddressList], AddressList]
    allowed: set[str]
    outcomes: dict[str, str]


MOVING = ("queued", "running", "rechecking", "paused")
OPERATIONS = {
    "start": Operation(start, {"ready"}, {"ready": "queued"}),
    "pause": Operation(
        lambda address_list: pause_list(address_list=address_list, actor=None),
        {*MOVING},
        dict.fromkeys(MOVING, "paused"),
    ),
    "resume": Operation(
        lambda address_list: resume_list(address_list=address_list, actor=None),
        {*MOVING},
        dict(zip(MOVING, MOVING, strict=True)) | {"paused": "queued"},
    ),
    "cancel": Operation(
        lambda address_list: cancel_list(address_list=address_list, actor=None),
        {state.value for state in ListState} - {"completed", "failed", "expired"},
        # Each address has a result.
        {state.value: "canceled" for state in ListState} | {"rechecking": "completed"},
    ),
    "finish": Operation(
        lambda address_list: finish_list(address_list=address_list, actor=None),
        {"rechecking", "completed"},
        dict.fromkeys(("rechecking", "completed"), "completed"),
    ),
}


@pytest.mark.parametrize(("name", "state"), list(product(OPERATIONS, ListState)))
def test_operation_leads_from_each_state_to_one_state(
    account: Account, name: str, state: ListState
) -> None:
    operation, allowed, outcomes = OPERATIONS[name]
    address_list = make_list(account, EMAILS[:2])
    AddressList.objects.filter(pk=address_list.pk).update(state=state)
    if state in allowed:
        operation(address_list)
        assert state_of(address_list) == outcomes[state]
    else:
        with pytest.raises(InvalidState) as refused:
            operation(address_list)
        assert refused.value.details == {"state": state}
        assert state_of(address_list) == state
    assert sum(wallet(account)) == BALANCE


def test_started_list_holds_the_price_of_its_addresses(account: Account) -> None:
    started = start(make_list(account, EMAILS, addresses=17), max_credits=17)
    assert wallet(account) == (BALANCE - 17, 17)
    assert started.hold
    assert started.hold.source == f"list:{started.public_id}"
    assert started.hold.reason == "customers.csv"
    assert started.started_at


def test_list_of_sandbox_addresses_starts_without_credits(account: Account) -> None:
    deduct(account=account, amount=BALANCE, reason="Test", actor=None)
    emails = ["deliverable@sandbox.test", "risky@sandbox.test"]
    address_list = make_list(account, emails, sandbox_addresses=2)
    assert start(address_list, max_credits=1).hold is None
    work()
    assert state_of(address_list) == ListState.COMPLETED
    assert wallet(account) == (0, 0)


@pytest.mark.parametrize(
    ("empty", "not_address", "is_refused"), [(0, 10, False), (0, 11, True), (2, 10, True)]
)
def test_column_without_addresses_needs_confirmation(
    account: Account, empty: int, not_address: int, is_refused: bool
) -> None:
    address_list = make_list(account, EMAILS, empty=empty, not_address=not_address)
    if is_refused:
        with pytest.raises(ApiError) as refused:
            start(address_list)
        assert refused.value.code == "confirmation_required"
        assert refused.value.details == {"rows": 20, "not_address": not_address}
        assert state_of(address_list) == ListState.READY
    assert start(address_list, confirm=is_refused).state == ListState.QUEUED


def test_another_column_is_parsed_before_the_list_starts(account: Account) -> None:
    address_list = make_list(account, EMAILS)
    start(address_list, column=2, max_credits=50)
    address_list.refresh_from_db()
    assert address_list.state == ListState.PARSING
    assert (address_list.column, address_list.max_credits) == (2, 50)
    assert address_list.starts_when_ready
    assert wallet(account) == (BALANCE, 0)


NAMES = "jane@reserved.test,Jane\nJoe,joe@reserved.test\nAnn,Ann\nTim,Tim\n"


def test_confirmation_is_remembered_while_another_column_is_parsed(account: Account) -> None:
    parsed = upload_and_parse(account, NAMES, column=0)
    start(parsed, column=1, confirm=True)
    assert parse().state == ListState.READY
    assert work_once()
    assert state_of(parsed) == ListState.QUEUED


def test_confirmation_counts_for_the_column_it_was_given_for(account: Account) -> None:
    parsed = upload_and_parse(account, NAMES, column=0)
    start(parsed, column=1, confirm=True)
    AddressList.objects.update(starts_when_ready=False)
    start(parse(), column=0)
    parse()
    assert work_once()
    parsed.refresh_from_db()
    assert (parsed.state, parsed.error_code) == (ListState.READY, "confirmation_required")


def test_list_without_addresses_stays_ready(account: Account) -> None:
    parsed = upload_and_parse(account, "name,city\nJane,Berlin\n", starts_when_ready=True)
    assert work_once()
    parsed.refresh_from_db()
    assert (parsed.state, parsed.error_code) == (ListState.READY, "invalid_state")
    assert parsed.error_message.startswith("The column has no addresses.")
    assert not parsed.starts_when_ready


UNSURE = "Jané,jane@shop.com\n".encode("cp1252")


@pytest.mark.parametrize(
    ("choices", "is_refused"),
    [({}, True), ({"confirm": True}, False), ({"encoding": "cp1252"}, False)],
)
def test_unsure_encoding_needs_confirmation(
    account: Account, choices: dict[str, object], is_refused: bool
) -> None:
    parsed = upload_and_parse(account, UNSURE)
    if is_refused:
        with pytest.raises(ApiError, match="confirmation_required") as refused:
            start(parsed, **choices)
        assert (refused.value.param, refused.value.details) == ("encoding", {"encoding": "cp1252"})
    else:
        assert start(parsed, **choices).state == ListState.QUEUED
        assert sweep_once()
        assert not parsed.parts.exists()


def test_named_encoding_needs_no_confirmation(account: Account) -> None:
    assert start(upload_and_parse(account, UNSURE, encoding="latin-1")).state == ListState.QUEUED
    parsed = upload_and_parse(account, UNSURE)
    chosen = choose_encoding(address_list=parsed, encoding="Windows-1252", actor=None)
    assert (chosen.state, chosen.encoding) == (ListState.READY, "cp1252")
    assert start(parsed).state == ListState.QUEUED


def test_another_encoding_is_read_from_the_file(account: Account) -> None:
    parsed = upload_and_parse(account, UNSURE)
    choose_encoding(address_list=parsed, encoding="cp1251", actor=None)
    with pytest.raises(InvalidState):
        start(parsed)
    parsed = parse()
    assert (parsed.state, rows_of(parsed)[0].cells[0][0]) == (ListState.READY, "Janй")
    # The choice may be wrong too.
    choose_encoding(address_list=parsed, encoding="cp1252", actor=None)
    assert rows_of(parse())[0].cells[0][0] == "Jané"
    assert AuditEntry.objects.filter(action="list.encoding_chosen").count() == 2


def test_encoding_cannot_be_changed_once_the_file_is_deleted(account: Account) -> None:
    certain = upload_and_parse(account, "Jané,jane@shop.com\n")
    old = upload_and_parse(account, UNSURE)
    AddressList.objects.filter(pk=old.pk).update(updated_at=timezone.now() - timedelta(hours=26))
    assert sweep_once()
    assert not ListPart.objects.exists()
    for address_list in (certain, old):
        with pytest.raises(ApiError, match="invalid_state"):
            choose_encoding(address_list=address_list, encoding="cp1251", actor=None)
    assert start(certain, encoding="utf-8").state == ListState.QUEUED


@pytest.mark.parametrize("end", [suspend_account, close_account])
def test_lists_of_inactive_account_do_not_start(account: Account, owner: User, end: object) -> None:
    address_list, paused = make_list(account, EMAILS), make_started_list(account, EMAILS)
    pause_list(address_list=paused, actor=None)
    end(account=account, actor=owner)  # type: ignore[operator]
    for operation in (start, lambda paused: resume_list(address_list=paused, actor=None)):
        with pytest.raises(ApiError, match="account_suspended"):
            operation(address_list if operation is start else paused)


def test_canceled_list_releases_its_hold(account: Account) -> None:
    address_list = make_started_list(account, EMAILS)
    assert wallet(account) == (BALANCE - 20, 20)
    canceled = cancel_list(address_list=address_list, actor=None)
    assert wallet(account) == (BALANCE, 0)
    assert canceled.finished_at
    assert canceled.expires_at == canceled.finished_at + timedelta(days=30)
    cancel_list(address_list=address_list, actor=None)
    assert AuditEntry.objects.filter(action="list.canceled").count() == 1


def test_list_whose_hold_ended_holds_the_rest_when_it_is_resumed(account: Account) -> None:
    address_list = make_started_list(account, EMAILS, sandbox_addresses=2)
    assert address_list.hold
    pause_list(address_list=address_list, actor=None)
    charge_hold(hold=address_list.hold, charges=[Charge(account, None, "deliverable", 5, None, 5)])
    release_hold(hold=address_list.hold)
    AddressList.objects.update(error_code="credits_deducted", error_message="…")
    resumed = resume_list(address_list=address_list, actor=None)
    assert wallet(account) == (BALANCE - 18, 13)
    resumed.refresh_from_db()
    assert (resumed.error_code, resumed.error_message, resumed.paused_at) == ("", "", None)
    resume_list(address_list=address_list, actor=None)
    assert Hold.objects.count() == 2


def test_list_is_not_resumed_if_the_balance_does_not_cover_the_rest(account: Account) -> None:
    address_list = make_started_list(account, EMAILS)
    assert address_list.hold
    pause_list(address_list=address_list, actor=None)
    release_hold(hold=address_list.hold)
    AddressList.objects.update(addresses=BALANCE + 1)
    with pytest.raises(InsufficientCredits):
        resume_list(address_list=address_list, actor=None)
    assert state_of(address_list) == ListState.PAUSED


def test_list_paused_for_thirty_days_is_canceled(account: Account) -> None:
    old, recent = make_started_list(account, EMAILS), make_started_list(account, EMAILS)
    for address_list, days in ((old, 31), (recent, 29)):
        pause_list(address_list=address_list, actor=None)
        paused_at = timezone.now() - timedelta(days=days)
        AddressList.objects.filter(pk=address_list.pk).update(paused_at=paused_at)
    cancel_long_paused()
    assert (state_of(old), state_of(recent)) == (ListState.CANCELED, ListState.PAUSED)
    assert wallet(account) == (BALANCE - 20, 20)


def test_audit_log_names_who_started_a_list(account: Account, owner: User, key: ApiKey) -> None:
    address_list = make_list(account, EMAILS)
    by_owner, by_key = Actor(account, user=owner), Actor(account, key=key)
    start_list(address_list=address_list, start=Start(), actor=by_key)
    pause_list(address_list=address_list, actor=by_owner)
    resume_list(address_list=address_list, actor=by_owner)
    cancel_list(address_list=address_list, actor=None)
    entries = AuditEntry.objects.filter(action__startswith="list.").order_by("pk")
    assert [(entry.action, entry.who) for entry in entries] == [
        ("list.started", f"API key {key.name}"),
        ("list.paused", owner.email),
        ("list.resumed", owner.email),
        ("list.canceled", "Automatic"),
    ]
    assert {entry.target for entry in entries} == {f"customers.csv ({address_list.public_id})"}
