"""Kill workers while they pay: each order is charged once, and each payment is granted."""

import subprocess
from pathlib import Path

import pytest

from tests.credits.killed_processes import product_on, start_process
from tests.servers.books import fetch_number, fetch_rows
from tests.servers.keys import make_account, manage
from tests.servers.product import Product
from tests.servers.stripe import FakeStripe, fake_stripe

pytestmark = [pytest.mark.process, pytest.mark.fault]

# The worker dies after Stripe did this, before it gets the response.
KILLS = ("create", "confirm", "create", "confirm", "confirm", "create")
SET_UP = """
from accounts.models import Account
from credits.automatic_top_ups.services import switch_on
from credits.models import Pack, SavedCard
account = Account.objects.latest("pk")
SavedCard.objects.create(account=account, provider_card="{card}", provider_customer="cus_1",
    brand="Visa", last_four="4242", expires_month=1, expires_year=2040)
switch_on(account=account, actor=account.memberships.get().user,
    threshold=500, pack=Pack.objects.earliest("credits"), cap_cents=1_000_000)
print(account.public_id)
"""


def start(site: Product, stripe: FakeStripe, account_id: str) -> subprocess.Popen[str]:
    module = "tests.credits.automatic_top_ups.paying_process"
    return start_process(module, site, account_id, **stripe.environment)


def run_and_kill(site: Product, stripe: FakeStripe, account_id: str, action: str) -> None:
    process = start(site, stripe, account_id)

    def kill(done: str) -> None:
        if done == action:
            process.kill()
            process.wait(30)

    stripe.before_response = kill
    process.communicate(timeout=60)
    assert process.returncode < 0


def run_to_the_end(site: Product, stripe: FakeStripe, account_id: str) -> None:
    stripe.before_response = lambda action: None
    process = start(site, stripe, account_id)
    process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_killed_workers_charge_each_order_once(tmp_path: Path, database: str) -> None:
    # The product's own worker has no key of Stripe.
    with product_on(database, tmp_path) as site, fake_stripe() as stripe:
        make_account(site, "owner@shop.example", "--credits", "100")
        card = stripe.new_card("cus_1")["id"]
        account_id = manage(site, "shell", "--no-imports", "-c", SET_UP.format(card=card))
        for action in KILLS:
            run_and_kill(site, stripe, account_id, action)
            run_to_the_end(site, stripe, account_id)
        assert_paid_once(site, stripe)


def assert_paid_once(site: Product, stripe: FakeStripe) -> None:
    assert "agree" in manage(site, "check_books")
    orders = fetch_rows(site, "SELECT public_id, state, provider_payment FROM credits_order")
    assert [state for _, state, _ in orders] == ["paid"] * len(KILLS)
    assert {payment for _, _, payment in orders} == set(stripe.charged)
    assert len(stripe.charged) == len(KILLS)
    granted = "SELECT SUM(amount) FROM credits_ledgerentry WHERE kind = 'purchase'"
    assert fetch_number(site, granted) == 1_000 * len(KILLS)
