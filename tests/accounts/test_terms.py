"""Sign-up records agreement to the terms, and a banner asks for agreement to newer ones."""

import json
from datetime import date
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts import team
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
