"""Emails with a code don't wait for the background worker's other work."""

import time
from pathlib import Path

import psycopg
import pytest

from tests.credits.killed_processes import product_on
from tests.servers.books import fetch_number
from tests.servers.keys import make_account, manage
from tests.servers.product import Product
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.proof]

ORDER_PACK = """
from accounts.models import Account
from credits.models import Pack
from credits.orders.placement import place_order
from credits.orders.quotes import Buyer, quote
account, pack = Account.objects.latest("pk"), Pack.objects.earliest("credits")
buyer = Buyer("The Shop Ltd", country="DE")
place_order(
    quote=quote(account, pack, buyer), buyer=buyer, actor=account.memberships.get().user
)
"""
SEND_CODE = """
from runtime.mail.outbox import queue_mail
queue_mail(to="newcomer@shop.example", subject="Your code", text="123456", html="<p>123456</p>")
"""


def run(site: Product, program: str) -> None:
    manage(site, "shell", "--no-imports", "-c", program)


def attached_names(site: Product, subject: str) -> list[str | None]:
    message = site.wait_for_email("owner@shop.example", subject)
    return [part.get_filename() for part in message.iter_attachments()]


def test_code_is_sent_while_invoices_wait(tmp_path: Path) -> None:
    with product_on("postgresql", tmp_path) as site:
        make_account(site, "owner@shop.example", "--credits", "100")
        with psycopg.connect(site.environment["DATABASE_URL"]) as database:
            # The next round of the loop that draws invoices waits here.
            database.execute("LOCK TABLE credits_invoicefile")
            time.sleep(2)
            run(site, SEND_CODE)
            site.wait_for_email("newcomer@shop.example", "Your code")
        run(site, ORDER_PACK)
        assert attached_names(site, "INV-000001") == ["INV-000001.pdf"]
        drawn = "SELECT COUNT(*) FROM credits_invoicefile WHERE content IS NOT NULL"
        wait_until(lambda: fetch_number(site, drawn))
