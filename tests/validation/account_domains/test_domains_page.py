"""Settings → Domains: both lists as text, errors with line numbers, and concurrent changes."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from accounts.models import Account
from accounts.roles import Role
from tests.conftest import make_member, signed_in
from tests.support.api_client import ApiClient
from validation.account_domains.services import MAX_ENTRIES, read_domains

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGE, SAVE = "/validation/domains/", "/validation/domains/save/"
EDITORS = (Role.OWNER, Role.ADMIN, Role.DEVELOPER)


def etag(browser: Client) -> str:
    shown: str = browser.get(PAGE).context["form"]["etag"].value()
    return shown


def save(browser: Client, allowed: str = "", denied: str = "", **form: str) -> Any:
    data = {"allowed": allowed, "denied": denied, "etag": etag(browser), **form}
    return browser.post(SAVE, data, follow=True)


def text_of(response: Any) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", response.content.decode())).split())


def test_lists_are_saved_one_domain_per_line(browser: Client, account: Account) -> None:
    response = save(browser, "partner.example\r\n\r\n Other.example ", "bücher.example")
    assert "Saved 2 allowed and 1 denied domains." in text_of(response)
    lists = read_domains(account)
    assert (lists.allowed, lists.denied) == (
        ["partner.example", "other.example"],
        ["xn--bcher-kva.example"],
    )
    form = response.context["form"]
    assert form["allowed"].value() == "partner.example\nother.example"
    assert [count for _, count in form.fields_with_counts()] == ["2 domains", "1 domain"]


def test_errors_name_the_lines_and_keep_the_text(browser: Client, account: Account) -> None:
    text = "partner.example\n\nco.uk\n*.shop.example"
    response = save(browser, text, "spam.example")
    form = response.context["form"]
    assert form.errors["allowed"] == [
        "Line 3: “co.uk” is a public suffix with many owners. Enter a domain below it.",
        "Line 4: “*.shop.example” has a wildcard. Remove “*.”: a domain also covers its "
        "subdomains.",
    ]
    assert (form["allowed"].value(), form["denied"].value()) == (text, "spam.example")
    assert read_domains(account).document() == {"allowed": [], "denied": []}
    errors = save(browser, "com\n" * 100).context["form"].errors["allowed"]
    assert (len(errors), errors[-1]) == (21, "Only the first 20 problems are shown.")


def test_too_many_domains_are_refused(browser: Client) -> None:
    domains = [f"shop{number}.example" for number in range(MAX_ENTRIES + 1)]
    response = save(browser, domains[0], "\n".join(domains[1:]))
    assert "Both lists together can have 10,000 domains. Remove some." in text_of(response)


def test_change_by_someone_else_is_replaced_only_after_an_error(
    browser: Client, caller: ApiClient, account: Account
) -> None:
    opened = etag(browser)
    caller.send_json("PUT", "/v1/domains", {"allowed": ["partner.example"], "denied": []})
    response = save(browser, denied="spam.example", etag=opened)
    assert (
        "The result would be: 0 allowed, 1 denied; now denied: spam.example; "
        "no longer allowed: partner.example." in text_of(response)
    )
    assert read_domains(account).allowed == ["partner.example"]
    form = save(browser, denied="spam.example", etag=opened).context["form"]
    save(browser, denied=form["denied"].value(), etag=form["etag"].value())
    assert read_domains(account).document() == {"allowed": [], "denied": ["spam.example"]}


def test_form_without_its_etag_is_refused(browser: Client, account: Account) -> None:
    response = save(browser, denied="spam.example", etag="")
    assert "The form was incomplete." in text_of(response)
    assert read_domains(account).document() == {"allowed": [], "denied": []}


def test_page_names_allowed_domains_that_a_denied_one_covers(browser: Client) -> None:
    response = save(browser, "eu.shop.example\nother.example", "shop.example")
    assert response.context["overruled_note"] == (
        "Denied wins, so these allowed domains are denied: eu.shop.example."
    )
    response = save(browser, "\n".join(f"{n}.shop.example" for n in range(7)), "shop.example")
    assert response.context["overruled_note"].endswith("4.shop.example, and 2 more.")
    assert save(browser, "other.example", "shop.example").context["overruled_note"] == ""


@pytest.mark.parametrize("role", Role)
def test_roles_that_manage_keys_edit_and_the_others_read(account: Account, role: Role) -> None:
    browser = signed_in(make_member(account, role))
    may_edit = role in EDITORS
    page = browser.get(PAGE)
    widget = page.context["form"].fields["denied"].widget
    assert (page.status_code, widget.attrs["readonly"]) == (200, not may_edit)
    marked = re.findall(r'<a\s+href="([^"]+)"\s+aria-current="page"', page.content.decode())
    assert {*marked} == {PAGE}
    assert ("Save domains" in text_of(page)) is may_edit
    assert ("ask an owner, admin, or developer" in text_of(page)) is not may_edit
    response = browser.post(SAVE, {"denied": "spam.example", "etag": '"0"'})
    assert response.status_code == (302 if may_edit else 403)
