"""How many accounts a user may own, also if requests are concurrent."""

import pytest

from accounts.models import Account, User
from accounts.services import (
    MAX_OWNED_ACCOUNTS,
    TooManyAccounts,
    open_account,
    open_another_account,
)
from tests.conftest import make_user
from tests.support.fresh_database import run_concurrently

pytestmark = pytest.mark.usefixtures("fresh_database")


def make_owner(accounts: int) -> User:
    """Return a user who owns this many accounts."""
    user = make_user("owner@shop.example")
    for number in range(accounts):
        open_account(user=user, name=f"Shop {number}")
    return user


def test_concurrent_requests_do_not_open_more_accounts_than_allowed() -> None:
    user = make_owner(MAX_OWNED_ACCOUNTS - 1)
    results = run_concurrently(4, lambda _: open_another_account(user=user, name="Race"))
    assert len([result for result in results if isinstance(result, TooManyAccounts)]) == 3
    assert Account.objects.count() == MAX_OWNED_ACCOUNTS
