"""Any values in any admin form and any query string.

Every page responds, the books agree, and a form that is submitted again does nothing.
"""

from typing import Any

import pytest
from hypothesis import strategies as st

from tests.conftest import make_user
from tests.fuzz.customers import (
    Customer,
    Snapshot,
    assert_books_agree,
    create_two_customers,
    make_browser,
    sign_in_cookie,
    snapshot_money,
)
from tests.fuzz.exploration import explore, rolled_back
from tests.fuzz.form_values import Filling, fill, fillings
from tests.fuzz.html_forms import PageForm
from tests.fuzz.test_pages import assert_valid, find_names, get_form, submit
from tests.fuzz.texts import texts
from tests.fuzz.url_table import encode_fields, fill_path, is_staff_path, path_templates
from tests.support.staff_forms import hidden_fields

pytestmark = [
    pytest.mark.proof,
    pytest.mark.django_db,
    # In `make fuzz` the database is PostgreSQL.
    pytest.mark.anywhere,
    # A date in a query string has no time zone. Django warns, and uses the current one.
    pytest.mark.filterwarnings("ignore:DateTimeField .* received a naive datetime"),
]

PAGES = sorted(filter(is_staff_path, path_templates()))
MONEY = ("/grant/", "/deduct/", "/mark-paid/", "/refund/", "/change-plan/")
ACTION_PAGES = [
    page for page in PAGES if page.endswith((*MONEY, "/suspend/", "/lift/", "/cancel/"))
]
# No page links to these lookups, but staff can type them.
LOOKUPS = (
    *("id__in", "pk", "id__gt", "name", "name__regex", "name__isnull", "account__name", "e", "o"),
    *("created_at__year", "created_at__month", "at__day", "account__id__exact", "p", "to", "state"),
)
# Customer pages that show what staff entered.
CUSTOMER_PAGES = (
    "/",
    "/credits/",
    "/credits/plans/",
    "/credits/packs/",
    "/validation/",
    "/docs/credits/",
)
AMOUNTS = ["0", "-1", "1", "5", "1000000000", "1000000001", str(2**63), "1.5", "１２", "1e3", " 7 "]


def admin_ids(template: str, shop: Customer, index: int) -> dict[str, Any]:
    """Return values for the parameters of an admin path, by the model in the path."""
    app, model = [*template.split("/"), "", ""][2:4]
    ids = {
        ("accounts", "account"): shop.account.pk,
        ("credits", "order"): [*shop.account.orders.order_by("pk")][index % 2].pk,
    }
    return {**shop.ids, "object_id": ids.get((app, model), index + 1), "id": index + 1}


def test_any_staff_form_leaves_the_books_consistent() -> None:
    shop, harbour = create_two_customers()
    cookies = [sign_in_cookie(make_user("staff@service.example", is_staff=True, is_superuser=True))]
    cookies.append(sign_in_cookie(shop.user))
    money = [snapshot_money(shop.account), snapshot_money(harbour.account)]

    def any_form(
        template: str, index: int, form_index: int, filling: Filling, customer_page: str
    ) -> None:
        path = fill_path(template, admin_ids(template, shop, index))
        with rolled_back():
            client = make_browser(cookies[0])
            form = get_form(client, path, form_index)
            fields = fill(form, filling)
            before = [snapshot() for snapshot in money]
            responses = submit(client, form, fields)
            if confirmation := hidden_fields(responses[-1]):
                fields = confirmation
                responses += submit(client, form, fields)
            for response in responses:
                assert_valid(response)
            after = [snapshot() for snapshot in money]
            assert after[1] == before[1]
            assert_entries_stay(before[0][1], after[0][1])
            if form.action.endswith(MONEY):
                assert_unchanged_when_repeated(client, form, fields, money)
            else:
                assert after == before
            assert_books_agree()
            assert_valid(make_browser(cookies[1]).get(customer_page))

    explore(
        any_form,
        quick=12,
        template=st.sampled_from(ACTION_PAGES) | st.sampled_from(PAGES),
        index=st.integers(0, 3),
        form_index=st.integers(0, 5),
        filling=fillings | amounts,
        customer_page=st.sampled_from(CUSTOMER_PAGES),
    )


amounts = st.lists(
    st.tuples(st.sampled_from(["keep", "text", "option"]), st.sampled_from(AMOUNTS) | texts),
    min_size=1,
    max_size=4,
)


def assert_entries_stay(before: list[Any], after: list[Any]) -> None:
    """The ledger is append-only."""
    assert after[: len(before)] == before


def assert_unchanged_when_repeated(
    client: Any, form: PageForm, fields: dict[str, str], money: list[Snapshot]
) -> None:
    before = [snapshot() for snapshot in money]
    for response in submit(client, form, fields):
        assert_valid(response)
    assert [snapshot() for snapshot in money] == before


def test_any_query_string_on_any_staff_page_is_answered() -> None:
    shop, _ = create_two_customers()
    cookie = sign_in_cookie(make_user("staff@service.example", is_staff=True, is_superuser=True))
    names_by_template: dict[str, list[str]] = {}

    def any_query(template: str, index: int, odd: str, query: list[tuple[int, str]]) -> None:
        ids = admin_ids(template, shop, index) if index else {}
        path = fill_path(template, ids, odd)
        with rolled_back():
            client = make_browser(cookie)
            names = names_by_template.setdefault(template, [*find_names(client, path), *LOOKUPS])
            fields = {names[position % len(names)]: value for position, value in query}
            assert_valid(client.get(f"{path}?{encode_fields(fields)}"))

    explore(
        any_query,
        quick=12,
        template=st.sampled_from(PAGES),
        index=st.integers(0, 3),
        odd=texts,
        query=st.lists(st.tuples(st.integers(0, 40), texts), max_size=5),
    )
