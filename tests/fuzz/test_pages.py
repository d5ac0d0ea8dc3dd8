"""Any values in any form and any query string.

Every page responds, forms change only what they show, and no page reveals another customer's data.
"""

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from hypothesis import strategies as st

from tests.fuzz.customers import (
    HARBOUR,
    Customer,
    assert_books_agree,
    create_two_customers,
    make_browser,
    sign_in_cookie,
    snapshot_money,
    snapshot_privileges,
    snapshot_rows,
)
from tests.fuzz.exploration import explore, rolled_back
from tests.fuzz.form_values import UNCHANGED, Filling, fill, fillings
from tests.fuzz.html_forms import PageForm, parse_forms
from tests.fuzz.texts import texts
from tests.fuzz.url_table import encode_fields, fill_path, find_query_names, path_templates, send

# In `make fuzz` the database is PostgreSQL.
pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGES = sorted(path_templates())
WITH_FORMS = [page for page in PAGES if not page.startswith("/docs/")]
# The most that each form of the playground may cost.
PLAYGROUND = {"/validation/playground/": 1, "/validation/playground/batch/": 100}
# Forms in the layout of every page.
LAYOUT_FORMS = {"/accounts/logout/", "/accounts/account/switch/"}
# No other host may be the target of a redirect.
IDENTITY_PROVIDERS = ("https://accounts.google.com", "https://github.com")
OWN, OTHER, ODD = "own", "another's", "odd"
owners = st.sampled_from([OWN, OWN, OWN, OTHER, ODD])
QUERY_NAMES = ("next", "page", "before", "q", "format", "account", "email", "key", "all")


@pytest.mark.proof
def test_customer_form_changes_only_what_it_shows() -> None:
    shop, harbour = create_two_customers()
    cookie = sign_in_cookie(shop.user)
    snapshots = [snapshot_rows(harbour.account), snapshot_privileges(shop.account, harbour.account)]
    money = snapshot_money(shop.account)

    def any_form(template: str, owner: str, form_index: int, filling: Filling) -> None:
        path = fill_path(template, ids_owned_by(shop, harbour, owner))
        with rolled_back():
            client = make_browser(cookie)
            form = get_form(client, path, form_index)
            before, money_before = [snapshot() for snapshot in snapshots], money()
            for response in submit(client, form, fill(form, filling)):
                assert_valid(response)
                assert_no_leak(response)
            assert [snapshot() for snapshot in snapshots] == before
            assert_only_playground_charges(form.action, money_before, money())

    explore(
        any_form,
        quick=15,
        first=[
            {"template": page, "owner": owner, "form_index": 0, "filling": UNCHANGED}
            for page in WITH_FORMS
            for owner in (OWN, OTHER)
            if owner == OWN or "<" in page
        ],
        template=st.sampled_from(WITH_FORMS),
        owner=owners,
        form_index=st.integers(0, 9),
        filling=fillings,
    )


@pytest.mark.proof
def test_anonymous_form_changes_nothing() -> None:
    """Cover sign-up, sign-in, password reset, and all pages that require sign-in."""
    shop, harbour = create_two_customers()
    snapshots = [
        snapshot_rows(shop.account),
        snapshot_rows(harbour.account),
        snapshot_privileges(shop.account),
    ]

    def any_form(template: str, form_index: int, filling: Filling) -> None:
        path = fill_path(template, harbour.ids)
        with rolled_back():
            client = make_browser("")
            form = get_form(client, path, form_index)
            before = [snapshot() for snapshot in snapshots]
            for response in submit(client, form, fill(form, filling)):
                assert_valid(response)
                assert_no_leak(response)
            assert [snapshot() for snapshot in snapshots] == before

    explore(
        any_form,
        quick=6,
        template=st.sampled_from(WITH_FORMS),
        form_index=st.integers(0, 3),
        filling=fillings,
    )


@pytest.mark.proof
def test_any_query_string_on_any_page_is_answered() -> None:
    shop, harbour = create_two_customers()
    cookie = sign_in_cookie(shop.user)
    names_by_template: dict[str, list[str]] = {}

    def any_query(
        template: str, owner: str, odd: str, query: list[tuple[int, str]], signed_in: bool
    ) -> None:
        path = fill_path(template, ids_owned_by(shop, harbour, owner), odd)
        with rolled_back():
            client = make_browser(cookie if signed_in else "")
            names = names_by_template.setdefault(template, find_names(client, path))
            fields = {names[index % len(names)]: value for index, value in query}
            response = client.get(f"{path}?{encode_fields(fields)}")
            assert_valid(response)
            assert_no_leak(response)

    explore(
        any_query,
        quick=20,
        first=[
            {"template": page, "owner": OTHER, "odd": "", "query": [], "signed_in": True}
            for page in PAGES
            if "<" in page
        ],
        template=st.sampled_from(PAGES),
        owner=owners,
        odd=texts,
        query=st.lists(st.tuples(st.integers(0, 30), texts | cursors | days), max_size=5),
        signed_in=st.sampled_from([True, True, True, False]),
    )


numbers = st.integers(-(2**65), 2**65)
cursors = st.builds("{}-{}".format, numbers | st.integers(0, 2**51), numbers | st.integers(0, 99))
days = st.dates().map(str) | st.sampled_from(["24h", "12m", "hour", "month", "playground", "200"])


def ids_owned_by(shop: Customer, harbour: Customer, owner: str) -> dict[str, Any]:
    return {OWN: shop.ids, OTHER: harbour.ids}.get(owner, {})


def get_form(client: Client, path: str, form_index: int) -> PageForm:
    """Return one of the page's forms, those of the layout last.

    A page without forms gets an invented one.
    """
    page = client.get(path)
    assert_valid(page)
    forms = parse_forms(page.content.decode()) if _is_html(page) else []
    forms.sort(key=lambda form: form.action in LAYOUT_FORMS)
    form = (
        forms[form_index % len(forms)]
        if forms
        else PageForm(path, "post", {"name": "", "email": ""})
    )
    form.action = form.action or path
    return form


def submit(client: Client, form: PageForm, fields: dict[str, str]) -> list[Any]:
    """Return the response, and that of the page it redirects to."""
    if form.method == "get":
        return [client.get(f"{form.action}?{encode_fields(fields)}")]
    responses = [send(client, form.action, fields)]
    if "Location" in responses[0].headers:
        responses.append(client.get(responses[0].headers["Location"]))
    return responses


def find_names(client: Client, path: str) -> list[str]:
    page = client.get(path)
    if not _is_html(page):
        return [*QUERY_NAMES]
    text = page.content.decode()
    names = {name for form in parse_forms(text) if form.method == "get" for name in form.fields}
    return [*sorted(names | find_query_names(text)), *QUERY_NAMES]


def _is_html(response: Any) -> bool:
    return bool(response.headers.get("Content-Type", "").startswith("text/html"))


def assert_valid(response: Any) -> None:
    assert response.status_code < 500
    location = urlsplit(response.headers.get("Location", ""))
    assert f"{location.scheme}://{location.netloc}" in ("://", *IDENTITY_PROVIDERS)
    assert not location.path.startswith(("//", "/\\"))
    if _is_html(response):
        assert b"<b id=fuzz>" not in response.content


def assert_no_leak(response: Any) -> None:
    content = b"".join(response.streaming_content) if response.streaming else response.content
    assert not HARBOUR.search(content.decode(errors="replace"))
    assert not HARBOUR.search(response.headers.get("Location", ""))


def assert_only_playground_charges(action: str, before: list[Any], after: list[Any]) -> None:
    """A validation in the playground costs a credit; no other form moves money."""
    if action in PLAYGROUND:
        (balance, *others), (left, *_) = before[0][0], after[0][0]
        assert balance - PLAYGROUND[action] <= left <= balance
        before[0] = [(left, *others)]
        assert_books_agree()
    assert after == before
