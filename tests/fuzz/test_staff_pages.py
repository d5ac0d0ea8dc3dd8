"""Any values in any form of the admin, and any address there: each is answered, the books agree
after it, and a form that was sent before does nothing again."""

from typing import Any

import pytest
from hypothesis import strategies as st

from tests.conftest import make_user
from tests.fuzz.cast import (
    Customer,
    Look,
    assert_books_agree,
    browser,
    cookie_of,
    money_of,
    two_customers,
)
from tests.fuzz.effort import explore, undone
from tests.fuzz.filling import Filling, filled, fillings
from tests.fuzz.html_forms import PageForm
from tests.fuzz.site import encoded, is_of_staff, path_of, templates
from tests.fuzz.test_pages import assert_answered, form_at, names_of, submit
from tests.fuzz.texts import texts

pytestmark = [
    pytest.mark.django_db,
    # In `make fuzz` the database is PostgreSQL.
    pytest.mark.anywhere,
    # A day that staff type into an address has no zone; Django says so, and takes ours.
    pytest.mark.filterwarnings("ignore:DateTimeField .* received a naive datetime"),
]

PAGES = sorted(filter(is_of_staff, templates()))
MONEY = ("/grant/", "/take-back/", "/mark-paid/", "/refund/", "/change-plan/")
ACTS = [page for page in PAGES if page.endswith((*MONEY, "/suspend/", "/lift/", "/cancel/"))]
# Nothing links to these; staff, or who has their browser, may ask for them.
LOOKUPS = (
    *("id__in", "pk", "id__gt", "name", "name__regex", "name__isnull", "account__name", "e", "o"),
    *("created_at__year", "created_at__month", "at__day", "account__id__exact", "p", "to", "state"),
)
# What customers see of what staff wrote.
SEEN = ("/", "/credits/", "/credits/plans/", "/credits/packs/", "/validation/", "/docs/credits/")
AMOUNTS = ["0", "-1", "1", "5", "1000000000", "1000000001", str(2**63), "1.5", "１２", "1e3", " 7 "]


def ids_in(template: str, shop: Customer, which: int) -> dict[str, Any]:
    """What the pages of the admin call a row, by the model in the address."""
    app, model = [*template.split("/"), "", ""][2:4]
    known = {
        ("accounts", "account"): shop.account.pk,
        ("credits", "order"): [*shop.account.orders.order_by("pk")][which % 2].pk,
    }
    return {**shop.ids, "object_id": known.get((app, model), which + 1), "id": which + 1}


def test_any_form_of_staff_leaves_books_that_agree() -> None:
    shop, harbour = two_customers()
    cookies = [cookie_of(make_user("staff@service.example", is_staff=True, is_superuser=True))]
    cookies.append(cookie_of(shop.user))
    money = [money_of(shop.account), money_of(harbour.account)]

    def any_form(template: str, which: int, place: int, filling: Filling, seen: str) -> None:
        path = path_of(template, ids_in(template, shop, which))
        with undone():
            client = browser(cookies[0])
            form = form_at(client, path, place)
            fields = filled(form, filling)
            before = [look() for look in money]
            for answer in submit(client, form, fields):
                assert_answered(answer)
            after = [look() for look in money]
            assert after[1] == before[1]
            assert_entries_stay(before[0][1], after[0][1])
            if form.action.endswith(MONEY):
                assert_same_when_sent_again(client, form, fields, money)
            else:
                assert after == before
            assert_books_agree()
            assert_answered(browser(cookies[1]).get(seen))

    explore(
        any_form,
        quick=12,
        template=st.sampled_from(ACTS) | st.sampled_from(PAGES),
        which=st.integers(0, 3),
        place=st.integers(0, 5),
        filling=fillings | amounts,
        seen=st.sampled_from(SEEN),
    )


amounts = st.lists(
    st.tuples(st.sampled_from(["keep", "text", "option"]), st.sampled_from(AMOUNTS) | texts),
    min_size=1,
    max_size=4,
)


def assert_entries_stay(before: list[Any], after: list[Any]) -> None:
    """The ledger is only ever written on."""
    assert after[: len(before)] == before


def assert_same_when_sent_again(
    client: Any, form: PageForm, fields: dict[str, str], money: list[Look]
) -> None:
    once = [look() for look in money]
    for answer in submit(client, form, fields):
        assert_answered(answer)
    assert [look() for look in money] == once


def test_any_query_of_any_page_of_staff_is_answered() -> None:
    shop, _ = two_customers()
    cookie = cookie_of(make_user("staff@service.example", is_staff=True, is_superuser=True))
    known: dict[str, list[str]] = {}

    def any_query(template: str, which: int, odd: str, query: list[tuple[int, str]]) -> None:
        ids = ids_in(template, shop, which) if which else {}
        path = path_of(template, ids, odd)
        with undone():
            client = browser(cookie)
            names = known.setdefault(template, [*names_of(client, path), *LOOKUPS])
            asked = {names[place % len(names)]: value for place, value in query}
            assert_answered(client.get(f"{path}?{encoded(asked)}"))

    explore(
        any_query,
        quick=12,
        template=st.sampled_from(PAGES),
        which=st.integers(0, 3),
        odd=texts,
        query=st.lists(st.tuples(st.integers(0, 40), texts), max_size=5),
    )
