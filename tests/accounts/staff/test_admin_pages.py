"""Admin pages show money as money, empty cells for missing values, and labeled filters."""

import re

import pytest
from django.utils import timezone

from accounts.models import Account, User
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


def test_order_page_shows_money(staff: User, order: Order) -> None:
    page = open_page(staff, f"/admin/credits/order/{order.pk}/change/")
    assert "$35.00" in page
    assert "3500" not in page
    assert "cents" not in page


@pytest.mark.parametrize(
    "path",
    ["/admin/apikeys/apikey/", "/admin/accounts/user/", "/admin/accounts/account/{}/change/"],
)
def test_empty_cells_are_empty(
    staff: User, account: Account, order: Order, secret: str, path: str
) -> None:
    page = open_page(staff, path.format(account.pk))
    cells = [visible_text(cell) for cell in re.findall(r"<td.*?</td>", page)]
    assert "" in cells
    assert not {"-", "\N{EN DASH}", "None"} & {*cells}


def test_every_filter_of_a_list_has_a_name(staff: User) -> None:
    page = open_page(staff, "/admin/accounts/user/")
    filters = page.partition('id="changelist-filter"')[2].partition("</nav>")[0]
    names = [visible_text(link) for link in re.findall(r"<a .*?</a>", filters)]
    assert {"All", "Finance"} <= {*names}
    assert "" not in names


@pytest.mark.parametrize("path", ["", "{}/change/"])
def test_subscription_has_dates_like_the_rest(staff: User, account: Account, path: str) -> None:
    today = timezone.now().date()
    page = visible_text(open_page(staff, f"/admin/credits/subscription/{path.format(account.pk)}"))
    assert f"{today:%-d %b %Y}" in page
    assert f"{today:%Y-%m}" not in page


def test_filters_are_above_the_list_and_the_search_has_a_label(staff: User, order: Order) -> None:
    page = open_page(staff, "/admin/credits/order/")
    assert '<nav id="changelist-filter" aria-label="Filters">' in page
    assert '<label for="searchbar">Search</label>' in page
