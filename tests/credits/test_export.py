"""Orders in the export of an account."""

import json

import pytest

from accounts.models import Account, User
from credits.models import Pack
from credits.orders.refunds import refund_order
from tests.conftest import signed_in
from tests.credits.customers import pay, place_order
from tests.credits.time_travel import on

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def test_export_has_each_refund_of_an_order(account: Account, owner: User, pack: Pack) -> None:
    with on("2026-11-02"):
        refunded, kept = (place_order(account, pack) for _ in range(2))
        pay(refunded)
    with on("2026-11-10"):
        refund_order(order=refunded, cents=100)
    with on("2026-11-12"):
        refund_order(order=refunded, cents=350)
    response = signed_in(owner).post("/accounts/account/export/")
    orders = {order["public_id"]: order for order in json.loads(response.content)["orders"]}
    rows = orders[refunded.public_id]["refunds"]
    assert [(row["at"][:10], row["cents"]) for row in rows] == [
        ("2026-11-10", 100),
        ("2026-11-12", 250),
    ]
    assert orders[refunded.public_id]["refunded_cents"] == 350
    assert orders[kept.public_id]["refunds"] == []
