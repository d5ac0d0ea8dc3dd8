"""Connecting and disconnecting providers, and users without a password."""

from datetime import timedelta

import pytest
import time_machine
from allauth.socialaccount.models import SocialAccount
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, AuditEntry, User
from accounts.roles import Role
from runtime.mail.outbox import send_due
from tests.accounts.authentication.providers.helpers import (
    CONNECTIONS,
    browser,
    come_back,
    connect,
    connected_user,
    is_signed_in,
)
from tests.conftest import make_member, make_user, signed_in, signed_in_by_form
from tests.servers.identity_provider import IdentityProvider, Person
from tests.support.received_email import path_in_email

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

JANE = Person("jane@shop.example", id="4711")
NEW_PASSWORD = "a new long password"


@pytest.fixture
def jane(provider: IdentityProvider) -> Client:
    """The browser of a user without a password, who has just signed in with Google."""
    connected_user(JANE)
    client = browser()
    come_back(client, provider, JANE)
    return client


def test_signed_in_user_connects_an_account_with_another_address(
    provider: IdentityProvider, owner: User, account: Account
) -> None:
    client = signed_in_by_form(owner)
    response = come_back(client, provider, JANE, "github", process="connect")
    assert response.headers["Location"] == CONNECTIONS
    page = client.get(CONNECTIONS).content.decode()
    assert "GitHub was connected" in page
    assert "octo" in page
    entry = AuditEntry.objects.get(action="user.provider_connected")
    assert (entry.actor, entry.account, entry.target) == (owner, account, "GitHub account octo")
    send_due()
    assert [message.subject for message in mail.outbox] == ["GitHub was connected"]
    other = browser()
    come_back(other, provider, JANE, "github")
    assert other.session["_auth_user_id"] == str(owner.pk)


def test_account_that_signs_in_another_user_is_not_connected(
    provider: IdentityProvider, owner: User
) -> None:
    connected_user(JANE)
    client = signed_in_by_form(owner)
    come_back(client, provider, JANE, process="connect")
    assert "signs in another user" in client.get(CONNECTIONS).content.decode()
    assert not SocialAccount.objects.filter(user=owner).exists()


def test_visitor_can_connect_nothing(provider: IdentityProvider) -> None:
    client = browser()
    come_back(client, provider, JANE, process="connect")
    assert not SocialAccount.objects.exists()
    assert not is_signed_in(client)


def test_user_with_a_password_disconnects_the_only_provider(owner: User, account: Account) -> None:
    connection = connect(owner, JANE)
    client = signed_in_by_form(owner)
    client.post(CONNECTIONS, {"account": connection.pk})
    assert not SocialAccount.objects.exists()
    entry = AuditEntry.objects.get(action="user.provider_disconnected")
    assert entry.target == "Google account jane@shop.example"
    send_due()
    assert [message.subject for message in mail.outbox] == ["Google was disconnected"]


def test_connection_of_another_user_is_not_disconnected(owner: User) -> None:
    connection = connect(make_user("other@shop.example"), JANE)
    signed_in_by_form(owner).post(CONNECTIONS, {"account": connection.pk})
    assert SocialAccount.objects.exists()


def test_last_way_in_is_not_disconnected(provider: IdentityProvider, settings: Settings) -> None:
    user = connected_user(JANE)
    other = connect(user, JANE, "github")
    first = SocialAccount.objects.get(provider="google")
    client = browser()
    come_back(client, provider, JANE)
    settings.SOCIALACCOUNT_PROVIDERS = {"google": settings.SOCIALACCOUNT_PROVIDERS["google"]}
    # GitHub isn't set up any more.
    page = client.post(CONNECTIONS, {"account": first.pk}).content.decode()
    assert "This is your only way to sign in. Set a password first." in page
    settings.SOCIALACCOUNT_PROVIDERS = {**settings.SOCIALACCOUNT_PROVIDERS, "github": {}}
    client.post(CONNECTIONS, {"account": first.pk})
    assert list(SocialAccount.objects.all()) == [other]


def test_user_without_a_password_confirms_at_the_provider(
    provider: IdentityProvider, jane: Client
) -> None:
    close = "/accounts/account/close/"
    assert jane.get(close).status_code == 200
    with time_machine.travel(timezone.now() + timedelta(minutes=16)):
        location = jane.get(close).headers["Location"]
        assert location == f"/accounts/security/confirm/?next={close.replace('/', '%2F')}"
        page = jane.get(location)
        assert "Continue with Google" in page.content.decode()
        assert "GitHub" not in page.content.decode()
        assert "https://github.com" not in page.headers["Content-Security-Policy"]
        session = jane.session.session_key
        assert come_back(jane, provider, JANE, next=close).headers["Location"] == close
        assert jane.session.session_key != session
        assert jane.get(close).status_code == 200


def test_user_confirms_at_the_provider_before_adding_a_required_factor(jane: Client) -> None:
    Account.objects.update(second_factor_required_at=timezone.now())
    with time_machine.travel(timezone.now() + timedelta(minutes=16)):
        location = jane.get("/accounts/2fa/totp/activate/").headers["Location"]
        assert location.startswith("/accounts/security/confirm/")
        assert jane.get(location).status_code == 200


def test_another_account_at_the_provider_confirms_nothing(
    provider: IdentityProvider, jane: Client
) -> None:
    with time_machine.travel(timezone.now() + timedelta(minutes=16)):
        come_back(jane, provider, Person("eve@shop.example", id="666"))
        assert not is_signed_in(jane)


def test_pages_ask_for_a_confirmation_after_15_minutes(owner: User, jane: Client) -> None:
    client = signed_in_by_form(owner)
    with time_machine.travel(timezone.now() + timedelta(minutes=16)):
        location = client.get(CONNECTIONS).headers["Location"]
        assert location.startswith("/accounts/reauthenticate/?next=")
        location = jane.get("/accounts/password/set/").headers["Location"]
        assert location.startswith("/accounts/security/confirm/")


def test_user_without_a_password_sets_one_and_disconnects(jane: Client) -> None:
    page = jane.get("/accounts/security/").content.decode()
    assert "/accounts/password/set/" in page
    form = {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    assert jane.post("/accounts/password/set/", form).status_code == 302
    jane.post(CONNECTIONS, {"account": SocialAccount.objects.get().pk})
    assert not SocialAccount.objects.exists()
    assert _signs_in(NEW_PASSWORD)


def test_user_without_a_password_resets_it_by_email() -> None:
    connected_user(JANE)
    client = Client()
    client.post("/accounts/password/reset/", {"email": JANE.email})
    form = client.get(path_in_email("/accounts/password/reset/key/")).headers["Location"]
    client.post(form, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD})
    assert _signs_in(NEW_PASSWORD)


def test_security_page_lists_providers_only_if_some_are_set_up(
    owner: User, settings: Settings
) -> None:
    connect(owner, JANE)
    assert "Google and GitHub" in signed_in(owner).get("/accounts/security/").content.decode()
    settings.SOCIALACCOUNT_PROVIDERS = {}
    assert "Google" not in signed_in(owner).get("/accounts/security/").content.decode()


def test_staff_see_a_users_providers(owner: User, staff: User) -> None:
    connect(owner, JANE)
    page = signed_in(staff).get(f"/admin/accounts/user/{owner.pk}/change/").content.decode()
    assert "Sign-in providers" in page
    assert "Google account jane@shop.example" in page


def test_export_lists_the_providers_of_each_member(owner: User, account: Account) -> None:
    make_member(account, Role.VIEWER)
    connection = connect(owner, JANE)
    export = signed_in(owner).post("/accounts/account/export/").json()
    providers = [member["sign_in_providers"] for member in export["members"]]
    (provider,), nothing = providers
    assert (provider["provider"], provider["account"]) == ("google", "jane@shop.example")
    assert provider["connected_at"].startswith(f"{connection.date_joined:%Y-%m-%dT%H:%M:%S}")
    assert nothing == []


def _signs_in(password: str) -> bool:
    form = {"login": JANE.email, "password": password}
    return Client().post("/accounts/login/", form).status_code == 302
