import pytest

from accounts.models import Account
from tests.credits.automatic_top_ups.helpers import give_card, switch_on_top_up
from tests.servers.stripe import FakeStripe


@pytest.fixture
def shop(stripe: FakeStripe, account: Account) -> Account:
    """Return an account with a card, automatic top-up below 500, and 100 credits."""
    give_card(stripe, account)
    switch_on_top_up(account)
    return account
