"""Emails with a code don't wait for the background worker's other work."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.credits.killed_processes import product_on
from tests.servers.books import fetch_number
from tests.servers.keys import make_account, manage
from tests.servers.product import Product

pytestmark = [pytest.mark.process]

ORDER_PACK = """
from accounts.models import Account
from credits.models import Pack
from credits.orders.buyers import Buyer
from credits.orders.placement import place_order
from credits.orders.quotes import quote
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


def order_and_stop_the_drawing(site: Product) -> psutil.Process:
    """Place an order, and stop the process that draws its invoice before it has done so."""
    with ThreadPoolExecutor() as pool:
        order = pool.submit(run, site, ORDER_PACK)
        deadline = time.monotonic() + 60
        # It runs for a third of a second, at a low priority.
        while not (drawing := find_drawing_process(site)):
            assert time.monotonic() < deadline
            time.sleep(0.005)
        drawing.suspend()
        order.result()
    return drawing


def find_drawing_process(site: Product) -> psutil.Process | None:
    for process in psutil.Process(site.process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "credits.invoices" in process.cmdline():
                return process
    return None


def attached_names(site: Product, subject: str) -> list[str | None]:
    message = site.wait_for_email("owner@shop.example", subject)
    return [part.get_filename() for part in message.iter_attachments()]


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_code_is_sent_while_an_invoice_is_drawn(tmp_path: Path, database: str) -> None:
    with product_on(database, tmp_path) as site:
        make_account(site, "owner@shop.example", "--credits", "100")
        drawing = order_and_stop_the_drawing(site)
        run(site, SEND_CODE)
        site.wait_for_email("newcomer@shop.example", "Your code")
        waiting = "SELECT COUNT(*) FROM runtime_mail WHERE sent_at IS NULL"
        assert fetch_number(site, waiting) == 1
        drawing.resume()
        message = site.wait_for_email("owner@shop.example", "INV-000001")
        assert [part.get_filename() for part in message.iter_attachments()] == ["INV-000001.pdf"]
