"""Terms, privacy notice and data processing agreement: templates, until the operator fills them."""

import re
from html import unescape

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.terms import legal_pages_are_complete

pytestmark = pytest.mark.django_db

PAGES = ["/accounts/terms/", "/accounts/privacy/", "/accounts/data-processing/"]
IS_A_TEMPLATE = "This is a template, not yet a legal text."
# Where each is said.
SAID_ON = {
    "GOVERNING_LAW": ["/accounts/terms/", "/accounts/data-processing/"],
    "HOSTING": ["/accounts/privacy/", "/accounts/data-processing/"],
    "SUBPROCESSORS": ["/accounts/privacy/", "/accounts/data-processing/"],
    "SELLER_NAME": PAGES,
    "SELLER_ADDRESS": PAGES,
    "SELLER_TAX_ID": ["/accounts/terms/"],
}


def read(client: Client, page: str) -> str:
    answer = client.get(page)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


@pytest.fixture
def filled_in(settings: Settings) -> None:
    settings.TO_FILL_IN = []
    settings.GOVERNING_LAW = "the law of Exampleland"
    settings.HOSTING = "Example Hosting Ltd, in Exampleton"
    settings.SUBPROCESSORS = ["Example Mail Ltd, mails, Exampleton"]


@pytest.mark.parametrize("page", PAGES)
def test_what_is_missing_is_marked_and_the_page_called_a_template(
    client: Client, page: str
) -> None:
    text = read(client, page)
    assert IS_A_TEMPLATE in text
    for name, pages in SAID_ON.items():
        assert (f": {name}]</mark>" in text) is (page in pages)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_lacks_nothing_is_no_template(
    client: Client, page: str, filled_in: None
) -> None:
    text = read(client, page)
    assert IS_A_TEMPLATE not in text
    assert "<mark>" not in text
    assert "Example Validation Ltd" in text


def test_what_the_operator_says_stands_in_the_texts(client: Client, filled_in: None) -> None:
    assert "under the law of Exampleland." in read(client, PAGES[0])
    for page in PAGES[1:]:
        text = read(client, page)
        assert "run by Example Hosting Ltd, in Exampleton." in text
        assert "<li>Example Mail Ltd, mails, Exampleton</li>" in text


def test_to_have_no_sub_processors_is_said(
    client: Client, filled_in: None, settings: Settings
) -> None:
    settings.SUBPROCESSORS = []
    assert "Nobody at the moment." in read(client, "/accounts/data-processing/")


def test_the_days_are_those_that_hold(client: Client, settings: Settings) -> None:
    settings.LOG_RETENTION_DAYS = 77
    settings.MAIL_RETENTION_DAYS = 41
    settings.CLOSED_ACCOUNT_DAYS = 43
    assert {"77", "41", "43"} <= set(re.findall(r"\d+", read(client, "/accounts/privacy/")))
    assert "77 days" in read(client, "/accounts/data-processing/")


def test_stripe_is_named_where_it_takes_the_money(client: Client, settings: Settings) -> None:
    assert "Stripe" not in read(client, "/accounts/privacy/")
    settings.STRIPE_SECRET_KEY = "sk_test_invented"
    assert "the pages of Stripe" in read(client, "/accounts/privacy/")


@pytest.mark.parametrize("page", PAGES)
def test_the_contents_lead_to_every_section(client: Client, page: str) -> None:
    text = read(client, page)
    assert re.findall(r'<li><a href="#([\w-]+)">', text) == re.findall(r'<section id="(\w+)"', text)


@pytest.mark.parametrize("page", ["/", "/accounts/signup/", "/accounts/login/"])
def test_they_are_linked_where_people_decide(client: Client, page: str) -> None:
    text = read(client, page)
    for linked in PAGES:
        assert f'href="{linked}"' in text


def test_the_deploy_check_names_what_is_missing(settings: Settings) -> None:
    settings.TO_FILL_IN = ["HOSTING", "GOVERNING_LAW"]
    (warning,) = legal_pages_are_complete()
    assert warning.msg == "The legal pages lack HOSTING, GOVERNING_LAW."
    settings.TO_FILL_IN = []
    assert not legal_pages_are_complete()
