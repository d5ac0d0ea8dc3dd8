"""Any values in any form, and any address, of the pages: each is answered, nothing changes that is
not in the form, and nothing of another customer is seen."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from hypothesis import strategies as st

from tests.fuzz.cast import (
    HARBOUR,
    Customer,
    all_of,
    assert_books_agree,
    browser,
    cookie_of,
    money_of,
    powers,
    two_customers,
)
from tests.fuzz.effort import explore, undone
from tests.fuzz.filling import AS_IT_STANDS, Filling, filled, fillings
from tests.fuzz.html_forms import PageForm, forms_of
from tests.fuzz.site import encoded, is_of_staff, path_of, query_names, send, templates
from tests.fuzz.texts import texts

# In `make fuzz` the database is PostgreSQL.
pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGES = sorted(template for template in templates() if not is_of_staff(template))
WITH_FORMS = [page for page in PAGES if not page.startswith("/docs/")]
PLAYGROUND = "/validation/playground/"
# These stand in the frame of every page.
FRAME = {"/accounts/logout/", "/accounts/account/switch/"}
OWN, ANOTHERS, ODD = "own", "another's", "odd"
owners = st.sampled_from([OWN, OWN, OWN, ANOTHERS, ODD])
QUERY_NAMES = ("next", "page", "before", "q", "format", "account", "email", "key", "all")


def test_any_form_of_a_customer_does_what_it_shows_and_no_more() -> None:
    shop, harbour = two_customers()
    cookie = cookie_of(shop.user)
    stays = [all_of(harbour.account), powers(shop.account, harbour.account)]
    money = money_of(shop.account)

    def any_form(template: str, whose: str, which: int, filling: Filling) -> None:
        path = path_of(template, ids_of(shop, harbour, whose))
        with undone():
            client = browser(cookie)
            form = form_at(client, path, which)
            before, money_before = [look() for look in stays], money()
            for answer in submit(client, form, filled(form, filling)):
                assert_answered(answer)
                assert_shows_nothing_of_another(answer)
            assert [look() for look in stays] == before
            assert_only_played(form.action, money_before, money())

    explore(
        any_form,
        quick=15,
        first=[
            {"template": page, "whose": whose, "which": 0, "filling": AS_IT_STANDS}
            for page in WITH_FORMS
            for whose in (OWN, ANOTHERS)
            if whose == OWN or "<" in page
        ],
        template=st.sampled_from(WITH_FORMS),
        whose=owners,
        which=st.integers(0, 9),
        filling=fillings,
    )


def test_any_form_of_a_stranger_gives_nothing() -> None:
    """Sign-up, sign-in, reset and all pages that are not theirs to open."""
    shop, harbour = two_customers()
    stays = [all_of(shop.account), all_of(harbour.account), powers(shop.account)]

    def any_form(template: str, which: int, filling: Filling) -> None:
        path = path_of(template, harbour.ids)
        with undone():
            client = browser("")
            form = form_at(client, path, which)
            before = [look() for look in stays]
            for answer in submit(client, form, filled(form, filling)):
                assert_answered(answer)
                assert_shows_nothing_of_another(answer)
            assert [look() for look in stays] == before

    explore(
        any_form,
        quick=6,
        template=st.sampled_from(WITH_FORMS),
        which=st.integers(0, 3),
        filling=fillings,
    )


def test_any_query_of_any_page_is_answered() -> None:
    shop, harbour = two_customers()
    cookie = cookie_of(shop.user)
    known: dict[str, list[str]] = {}

    def any_query(
        template: str, whose: str, odd: str, query: list[tuple[int, str]], signed_in: bool
    ) -> None:
        path = path_of(template, ids_of(shop, harbour, whose), odd)
        with undone():
            client = browser(cookie if signed_in else "")
            names = known.setdefault(template, names_of(client, path))
            asked = {names[place % len(names)]: value for place, value in query}
            answer = client.get(f"{path}?{encoded(asked)}")
            assert_answered(answer)
            assert_shows_nothing_of_another(answer)

    explore(
        any_query,
        quick=20,
        first=[
            {"template": page, "whose": ANOTHERS, "odd": "", "query": [], "signed_in": True}
            for page in PAGES
            if "<" in page
        ],
        template=st.sampled_from(PAGES),
        whose=owners,
        odd=texts,
        query=st.lists(st.tuples(st.integers(0, 30), texts | cursors | days), max_size=5),
        signed_in=st.sampled_from([True, True, True, False]),
    )


numbers = st.integers(-(2**65), 2**65)
cursors = st.builds("{}-{}".format, numbers | st.integers(0, 2**51), numbers | st.integers(0, 99))
days = st.dates().map(str) | st.sampled_from(["24h", "12m", "hour", "month", "playground", "200"])


def ids_of(shop: Customer, harbour: Customer, whose: str) -> dict[str, Any]:
    return {OWN: shop.ids, ANOTHERS: harbour.ids}.get(whose, {})


def form_at(client: Client, path: str, which: int) -> PageForm:
    """One of the page's forms, those of its frame last; without any, what is sent to it unasked."""
    page = client.get(path)
    assert_answered(page)
    found = forms_of(page.content.decode()) if _is_html(page) else []
    found.sort(key=lambda form: form.action in FRAME)
    form = found[which % len(found)] if found else PageForm(path, "post", {"name": "", "email": ""})
    form.action = form.action or path
    return form


def submit(client: Client, form: PageForm, fields: dict[str, str]) -> list[Any]:
    """The answer, and the page that it leads to."""
    if form.method == "get":
        return [client.get(f"{form.action}?{encoded(fields)}")]
    answers = [send(client, form.action, fields)]
    if "Location" in answers[0].headers:
        answers.append(client.get(answers[0].headers["Location"]))
    return answers


def names_of(client: Client, path: str) -> list[str]:
    page = client.get(path)
    if not _is_html(page):
        return [*QUERY_NAMES]
    text = page.content.decode()
    asked = {name for form in forms_of(text) if form.method == "get" for name in form.fields}
    return [*sorted(asked | query_names(text)), *QUERY_NAMES]


def _is_html(answer: Any) -> bool:
    return bool(answer.headers.get("Content-Type", "").startswith("text/html"))


def assert_answered(answer: Any) -> None:
    assert answer.status_code < 500
    place = urlsplit(answer.headers.get("Location", ""))
    assert (place.scheme, place.netloc) == ("", "")
    assert not place.path.startswith(("//", "/\\"))
    if _is_html(answer):
        assert b"<b id=fuzz>" not in answer.content


def assert_shows_nothing_of_another(answer: Any) -> None:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    assert HARBOUR.encode() not in content
    assert HARBOUR not in answer.headers.get("Location", "")


def assert_only_played(action: str, before: list[Any], after: list[Any]) -> None:
    """The playground has its price; no other form moves money."""
    if action == PLAYGROUND:
        (balance, debt), (left, _) = before[0][0], after[0][0]
        assert balance - 1 <= left <= balance
        before[0] = [(left, debt)]
        assert_books_agree()
    assert after == before
