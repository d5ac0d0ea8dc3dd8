"""Cells of admin pages, by their type."""

import re
from datetime import date

import pytest

from accounts.models import Account, User
from accounts.staff.panels import Cell
from accounts.templatetags.staff_pages import cell_class, cell_html
from credits.models import Order, Pack
from tests.accounts.staff.staff_pages import visible_text
from tests.conftest import signed_in
from tests.credits.customers import pay, place_order

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@pytest.fixture
def order(account: Account) -> Order:
    order = place_order(account, Pack.objects.get(credits=10_000))
    pay(order)
    return order


def open_page(staff: User, path: str) -> str:
    response = signed_in(staff).get(path)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize("path", ["/admin/apikeys/apikey/", "/admin/accounts/user/"])
def test_empty_cells_are_empty(
    staff: User, account: Account, order: Order, secret: str, path: str
) -> None:
    page = open_page(staff, path)
    cells = [visible_text(cell) for cell in re.findall(r"<td.*?</td>", page)]
    assert "" in cells
    assert not {"-", "\N{EN DASH}", "None"} & {*cells}


@pytest.mark.parametrize(
    ("cell", "html", "css"),
    [
        (Cell(None), '<span aria-label="none">\N{EN DASH}</span>', "staff-moment"),
        (Cell(1_200), "1,200", "staff-number"),
        (Cell("USD 5.00", is_amount=True), "<bdi>USD 5.00</bdi>", "staff-number"),
        (Cell(date(2026, 11, 20)), "20 Nov 2026", "staff-moment"),
        (Cell("<b>", "/x/", "bad"), None, "staff-text"),
        (Cell("x" * 33), f"<bdi>{'x' * 33}</bdi>", "staff-text staff-text-long"),
    ],
)
def test_cell_is_rendered_by_its_type(cell: Cell, html: str | None, css: str) -> None:
    marked = '<a href="/x/"><span class="staff-tone staff-tone-bad"><bdi>&lt;b&gt;</bdi></span></a>'
    assert cell_html(cell) == (html or marked)
    assert cell_class(cell) == css
