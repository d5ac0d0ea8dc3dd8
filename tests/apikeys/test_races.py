"""Several at once, each with a connection of its own."""

import pytest

from accounts.services import open_account
from apikeys.models import MOST_ACTIVE, TooManyKeys
from apikeys.services import create_key
from tests.conftest import make_user
from tests.fresh import at_once

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
