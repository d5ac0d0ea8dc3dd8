"""Terms, privacy notice, and data processing agreement, before and after they are filled in."""

import re
from html import unescape

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.apps import check_legal_pages

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PAGES = ["/accounts/terms/", "/accounts/privacy/", "/accounts/data-processing/"]
IS_A_TEMPLATE = "This is a template, not yet a legal text."
# The pages that contain each setting.
PAGES_BY_SETTING = {
    "GOVERNING_LAW": ["/accounts/terms/", "/accounts/data-processing/"],
    "HOSTING": ["/accounts/privacy/", "/accounts/data-processing/"],
    "SUBPROCESSORS": ["/accounts/privacy/", "/accounts/data-processing/"],
    "SELLER_NAME": PAGES,
    "SELLER_ADDRESS": PAGES,
    "SELLER_TAX_ID": ["/accounts/terms/"],
}


def read(client: Client, page: str) -> str:
    response = client.get(page)
    assert response.status_code == 200
    return unescape(response.content.decode())


@pytest.fixture
def filled_in(settings: Settings) -> None:
    settings.MISSING_LEGAL_SETTINGS = []
    settings.GOVERNING_LAW = "the law of Exampleland"
    settings.HOSTING = "Example Hosting Ltd, in Exampleton"
    settings.SUBPROCESSORS = ["Example Mail Ltd, email delivery, Exampleton"]


@pytest.mark.parametrize("page", PAGES)
def test_missing_details_are_highlighted_and_the_page_is_marked_as_a_template(
    client: Client, page: str
) -> None:
    text = read(client, page)
    assert IS_A_TEMPLATE in text
    for name, pages in PAGES_BY_SETTING.items():
        assert (f": {name}]</mark>" in text) is (page in pages)


def test_complete_pages_contain_the_operators_details_and_no_mark(
    client: Client, filled_in: None
) -> None:
    terms, *others = (read(client, page) for page in PAGES)
    assert "governed by the law of Exampleland." in terms
    for text in others:
        assert "run by Example Hosting Ltd, in Exampleton." in text
        assert "<li>Example Mail Ltd, email delivery, Exampleton</li>" in text
    for text in (terms, *others):
        assert IS_A_TEMPLATE not in text
        assert "<mark>" not in text
        assert "Example Validation Ltd" in text


def test_places_that_store_validated_addresses_have_the_settings_retention_periods(
    client: Client, settings: Settings
) -> None:
    settings.LOG_RETENTION_DAYS, settings.MAIL_RETENTION_DAYS = 77, 41
    settings.CLOSED_ACCOUNT_DAYS = 43
    settings.RESULT_RETENTION_HOURS, settings.LIST_RETENTION_DAYS = 19, 23
    notice, agreement = read(client, PAGES[1]), read(client, PAGES[2])
    assert {"77", "41", "43"} <= set(re.findall(r"\d+", notice))
    assert "77 days" in agreement
    for place in ("Request log", "Stored responses", "Results", "Lists", "Feedback"):
        assert f"<td>{place}</td>" in agreement
    for page in (agreement, notice):
        text = " ".join(page.split())
        assert "19 hours" in text
        assert "23 days after the list ends" in text


def test_privacy_notice_names_stripe_if_it_takes_payments(
    client: Client, settings: Settings
) -> None:
    assert "Stripe" not in read(client, "/accounts/privacy/")
    settings.STRIPE_SECRET_KEY = "sk_test_invented"
    assert "Stripe's pages" in read(client, "/accounts/privacy/")


def test_deploy_check_lists_the_missing_settings(settings: Settings) -> None:
    settings.MISSING_LEGAL_SETTINGS = ["HOSTING", "GOVERNING_LAW"]
    (warning,) = check_legal_pages()
    assert warning.msg == "The legal pages are missing HOSTING, GOVERNING_LAW."
    settings.MISSING_LEGAL_SETTINGS = []
    assert not check_legal_pages()
