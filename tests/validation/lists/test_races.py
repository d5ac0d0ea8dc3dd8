"""Concurrent operations on a list, each on its own connection, have one outcome."""

import pytest

from accounts.models import Account
from accounts.services import open_account, run_email_confirmed_hooks
from tests.conftest import make_user
from tests.support.fresh_database import run_concurrently
from tests.validation.lists.factory import make_list
from tests.validation.lists.test_control import (
    BALANCE,
    EMAILS,
    OPERATIONS,
    start,
    state_of,
    wallet,
)
from validation.lists.control import InvalidState
from validation.models import AddressList
from validation.models.list_states import State

pytestmark = pytest.mark.usefixtures("fresh_database")


@pytest.fixture
def shop() -> Account:
    owner = make_user("owner@shop.example")
    account = open_account(user=owner, name="The Shop")
    run_email_confirmed_hooks(user=owner)
    return account


def test_list_started_by_several_requests_holds_credits_once(shop: Account) -> None:
    address_list = make_list(shop, EMAILS)
    outcomes = run_concurrently(6, lambda _: start(address_list))
    assert sum(isinstance(outcome, AddressList) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, InvalidState) for outcome in outcomes) == 5
    assert wallet(shop) == (BALANCE - 20, 20)


def test_concurrent_operations_leave_the_books_in_agreement(shop: Account) -> None:
    address_list = make_list(shop, EMAILS)
    operations = [operation for operation, _, _ in OPERATIONS.values()] * 2
    outcomes = run_concurrently(len(operations), lambda n: operations[n](address_list))
    assert all(isinstance(outcome, AddressList | InvalidState) for outcome in outcomes)
    assert state_of(address_list) == State.CANCELED
    assert wallet(shop) == (BALANCE, 0)
