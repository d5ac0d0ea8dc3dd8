"""Agreement to the terms, and the legal pages before and after they are filled in."""

import json
import re
from datetime import date
from html import unescape
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts import team
from accounts.apps import check_legal_pages
from accounts.models import Account, AuditEntry, User
from accounts.roles import Role
from accounts.services import agree_to_terms
from tests.accounts.authentication.test_sign_up import sign_up
from tests.conftest import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

VERSION = date(2026, 11, 20)
BANNER = b"Our terms changed on"


@pytest.fixture(autouse=True)
def current_terms(settings: Settings) -> None:
    settings.TERMS_VERSION = VERSION


@pytest.fixture
def agreed(owner: User, account: Account) -> User:
    agree_to_terms(user=owner, account=account)
    return owner


def test_sign_up_records_agreement_to_the_current_terms(client: Client) -> None:
    sign_up(client, "jane@shop.example")
    user = User.objects.get()
    assert user.terms_version == VERSION
    assert user.terms_agreed_at
    assert abs((timezone.now() - user.terms_agreed_at).total_seconds()) < 60
    entry = AuditEntry.objects.get(action="user.terms_agreed")
    assert (entry.account, entry.actor) == (Account.objects.get(), user)
    assert (entry.target, entry.ip) == ("version of 2026-11-20", "127.0.0.1")


def test_invited_sign_up_records_agreement_to_the_current_terms(
    client: Client, owner: User, account: Account
) -> None:
    email = "colleague@shop.example"
    invitation = team.invite_member(account=account, email=email, role=Role.DEVELOPER, actor=owner)
    session: Any = client.session
    session["invited"] = invitation.public_id
    session.save()
    sign_up(client, email)
    invited = User.objects.get(email=email)
    assert not invited.memberships.exists()
    assert invited.terms_version == VERSION
    assert AuditEntry.objects.get(action="user.terms_agreed").actor == invited


def test_sign_up_page_states_the_agreement_before_the_button(client: Client) -> None:
    page = client.get("/accounts/signup/").content.decode()
    sentence, button = "By creating an account, you agree to the", "Create account</button>"
    assert page.index(sentence) < page.index(button)


def test_banner_asks_for_newer_terms_until_the_user_agrees(
    agreed: User, account: Account, settings: Settings
) -> None:
    client = signed_in(agreed)
    for version in (VERSION, date(2026, 1, 1)):
        settings.TERMS_VERSION = version
        assert BANNER not in client.get("/validation/").content
    settings.TERMS_VERSION = date(2027, 3, 1)
    assert b"Our terms changed on 1 Mar 2027." in client.get("/validation/").content
    response = client.post("/accounts/terms/agree/", follow=True)
    assert b"Your agreement to the terms was recorded" in response.content
    assert BANNER not in response.content
    agreed.refresh_from_db()
    assert agreed.terms_version == date(2027, 3, 1)
    assert account.audit_entries.filter(action="user.terms_agreed").count() == 2


def test_user_created_by_the_operator_never_sees_the_banner(settings: Settings) -> None:
    call_command("create_account", "created@shop.example")
    user = User.objects.get()
    assert (user.terms_version, user.terms_agreed_at) == (None, None)
    settings.TERMS_VERSION = date(2027, 3, 1)
    client = Client()
    client.force_login(user)
    assert BANNER not in client.get("/validation/").content


def test_export_contains_the_agreements(agreed: User) -> None:
    export = json.loads(signed_in(agreed).post("/accounts/account/export/").content)
    (member,) = export["members"]
    assert member["terms_version"] == "2026-11-20"
    assert member["terms_agreed_at"]


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
