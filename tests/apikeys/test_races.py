"""Several at once, each with a connection of its own."""

import pytest
from django.db import OperationalError, connection

from accounts.models import Account
from accounts.services import open_account
from apikeys.models import MOST_ACTIVE, RefusalHour, TooManyKeys
from apikeys.services import create_key
from apikeys.throttling.refusal_counts import count_refusal, refusals
from tests.conftest import make_user
from tests.support.fresh_database import at_once

pytestmark = pytest.mark.usefixtures("fresh_database")


def test_two_at_once_do_not_get_a_21st_key() -> None:
    owner = make_user("owner@shop.example")
    account = open_account(user=owner)
    for number in range(MOST_ACTIVE - 1):
        create_key(account=account, name=f"Key {number}", actor=owner)

    def create(number: int) -> object:
        return create_key(account=account, name="Race", actor=owner)

    results = at_once(4, create)
    assert len([one for one in results if isinstance(one, TooManyKeys)]) == 3
    assert account.api_keys.active().count() == MOST_ACTIVE


def counted() -> list[tuple[str, int]]:
    return list(RefusalHour.objects.order_by("code").values_list("code", "calls"))


def test_four_workers_that_write_at_once_lose_no_count() -> None:
    account = Account.objects.create(name="The Shop")

    def count_and_write(number: int) -> None:
        for _ in range(10):
            count_refusal(account.pk, None, "not_found")
            refusals.write()

    at_once(4, count_and_write)
    assert counted() == [("not_found", 40)]


def test_counts_of_an_account_that_is_gone_are_dropped_and_the_others_kept() -> None:
    stays, goes = (Account.objects.create(name=name) for name in ("Stays", "Goes"))
    for account in (goes, stays):
        count_refusal(account.pk, None, "not_found")
    goes.delete()
    refusals.write()
    assert counted() == [("not_found", 1)]


def test_counts_wait_while_the_database_is_away() -> None:
    account = Account.objects.create(name="The Shop")
    for code in ("not_found", "not_found", "missing_field"):
        count_refusal(account.pk, None, code)

    def is_away(*_: object) -> None:
        raise OperationalError("away")

    with connection.execute_wrapper(is_away):
        refusals.write()
    refusals.write()
    assert counted() == [("missing_field", 1), ("not_found", 2)]
