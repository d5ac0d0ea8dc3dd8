"""Sign-in and sign-up with Google and GitHub."""

import re

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.contrib.sessions.models import Session
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, AuditEntry, Membership, User
from accounts.roles import Role
from tests.accounts.authentication.providers.helpers import (
    CONFIRM,
    browser,
    come_back,
    connect,
    connected_user,
    is_signed_in,
    leave,
    sign_up,
)
from tests.accounts.test_team import invite
from tests.conftest import PASSWORD, make_user
from tests.credits.customers import balance
from tests.servers.identity_provider import IdentityProvider, Person
from tests.site.test_no_secret_in_the_database import all_stored_values
from tests.support.second_factors import add_authenticator_app, current_code

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

JANE = Person("Jane@Shop.example", id="4711")


@pytest.mark.parametrize("at", ["google", "github"])
def test_newcomer_agrees_to_the_terms_and_is_signed_in(provider: IdentityProvider, at: str) -> None:
    client = browser()
    page = come_back(client, provider, JANE, at)
    assert page.headers["Location"] == CONFIRM
    assert not User.objects.exists()
    text = client.get(CONFIRM).content.decode()
    assert "jane@shop.example" in text
    assert "/accounts/terms/" in text
    assert client.post(CONFIRM).headers["Location"] == "/validation/"
    assert is_signed_in(client)
    membership = Membership.objects.get(user__email="jane@shop.example")
    assert membership.role == Role.OWNER
    assert membership.user.terms_version is not None
    assert not membership.user.has_usable_password()
    assert EmailAddress.objects.get().verified
    assert balance(membership.account) == 100


def test_only_an_id_and_a_label_of_the_provider_are_stored(provider: IdentityProvider) -> None:
    client = browser()
    sign_up(client, provider, JANE, at="github")
    connection = SocialAccount.objects.get()
    assert (connection.provider, connection.uid) == ("github", "4711")
    assert connection.extra_data == {"label": "octo"}
    assert not SocialToken.objects.exists()
    assert not [value for value in all_stored_values() if "token-of-" in value]


def test_token_is_not_in_the_session_of_an_unfinished_sign_up(provider: IdentityProvider) -> None:
    come_back(browser(), provider, JANE)
    assert "token-of-" not in str([each.get_decoded() for each in Session.objects.all()])


def test_audit_log_names_sign_up_and_sign_in(provider: IdentityProvider) -> None:
    client = browser()
    sign_up(client, provider, JANE)
    entries = dict(AuditEntry.objects.values_list("action", "target"))
    assert entries["user.provider_connected"] == "Google account jane@shop.example"
    assert entries["user.signed_in"] == "Firefox on Linux, with Google"


@pytest.mark.parametrize(("at", "name"), [("google", "Google"), ("github", "GitHub")])
def test_audit_log_names_the_provider_of_a_sign_in_with_a_second_factor(
    provider: IdentityProvider, at: str, name: str
) -> None:
    add_authenticator_app(connected_user(JANE, at))
    client = browser()
    come_back(client, provider, JANE, at)
    client.post("/accounts/2fa/authenticate/", {"code": current_code()})
    entry = AuditEntry.objects.get(action="user.signed_in")
    assert entry.target == f"Firefox on Linux, with {name}"


def test_audit_log_names_the_provider_that_a_user_turned_to(provider: IdentityProvider) -> None:
    user = connected_user(JANE, password=PASSWORD)
    add_authenticator_app(user)
    client = browser()
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    come_back(client, provider, JANE)
    client.post("/accounts/2fa/authenticate/", {"code": current_code()})
    assert AuditEntry.objects.get(action="user.signed_in").target == "Firefox on Linux, with Google"


def test_connected_user_is_signed_in_and_led_to_the_wanted_page(provider: IdentityProvider) -> None:
    connected_user(JANE)
    client = browser()
    response = come_back(client, provider, JANE, next="/lists/")
    assert response.headers["Location"] == "/lists/"
    assert is_signed_in(client)


def test_page_of_another_site_is_not_led_to(provider: IdentityProvider) -> None:
    connected_user(JANE)
    response = come_back(browser(), provider, JANE, next="https://evil.example/")
    assert response.headers["Location"] == "/validation/"


def test_user_is_found_by_the_providers_id_and_not_by_the_address(
    provider: IdentityProvider,
) -> None:
    user = connected_user(JANE)
    client = browser()
    come_back(client, provider, Person("renamed@shop.example", id=JANE.id))
    assert client.session["_auth_user_id"] == str(user.pk)


@pytest.mark.parametrize("at", ["google", "github"])
def test_verified_address_of_an_existing_user_connects_only_after_sign_in(
    provider: IdentityProvider, at: str
) -> None:
    make_user("jane@shop.example")
    client = browser()
    location = come_back(client, provider, JANE, at).headers["Location"]
    assert location == "/accounts/login/?next=%2Faccounts%2Fconnections%2F"
    page = client.get(location)
    assert "jane@shop.example already has an account" in page.content.decode()
    assert not is_signed_in(client)
    assert not SocialAccount.objects.exists()
    form = {"login": "jane@shop.example", "password": PASSWORD, "next": "/accounts/connections/"}
    assert client.post("/accounts/login/", form).headers["Location"] == "/accounts/connections/"


@pytest.mark.parametrize("at", ["google", "github"])
def test_address_that_the_provider_has_not_verified_is_refused(
    provider: IdentityProvider, at: str
) -> None:
    client = browser()
    come_back(client, provider, Person("jane@shop.example", is_verified=False), at)
    page = client.get("/accounts/login/").content.decode()
    assert "verified your email" in page
    assert client.get(CONFIRM).status_code == 302
    assert not User.objects.exists()


def test_unverified_address_still_signs_in_a_connected_user(provider: IdentityProvider) -> None:
    connected_user(JANE)
    client = browser()
    come_back(client, provider, Person(JANE.email, id=JANE.id, is_verified=False))
    assert is_signed_in(client)


def test_unconfirmed_sign_up_has_no_claim_to_the_address(provider: IdentityProvider) -> None:
    Client().post("/accounts/signup/", {"email": "jane@shop.example", "password1": PASSWORD})
    squatter = User.objects.get()
    sign_up(browser(), provider, JANE)
    assert User.objects.get().pk != squatter.pk
    assert not Client().login(email="jane@shop.example", password=PASSWORD)


def test_user_who_signed_up_meanwhile_is_not_taken_over(provider: IdentityProvider) -> None:
    client = browser()
    come_back(client, provider, JANE)
    make_user("jane@shop.example")
    assert client.post(CONFIRM).headers["Location"].startswith("/accounts/login/")
    assert not SocialAccount.objects.exists()


def test_disposable_address_is_refused(provider: IdentityProvider) -> None:
    client = browser()
    come_back(client, provider, Person("jane@mailinator.com"))
    assert "disposable address" in client.get("/accounts/login/").content.decode()


def test_second_factor_is_still_required(provider: IdentityProvider) -> None:
    user = connected_user(JANE)
    add_authenticator_app(user)
    client = browser()
    response = come_back(client, provider, JANE)
    assert response.headers["Location"] == "/accounts/2fa/authenticate/"
    assert not is_signed_in(client)


def test_inactive_user_is_refused(provider: IdentityProvider) -> None:
    connected_user(JANE, is_active=False)
    client = browser()
    assert come_back(client, provider, JANE).headers["Location"] == "/accounts/inactive/"
    assert not is_signed_in(client)


def test_user_of_closed_accounts_is_refused(provider: IdentityProvider) -> None:
    user = connected_user(JANE)
    Account.objects.filter(memberships__user=user).update(closed_at=user.date_joined)
    client = browser()
    assert come_back(client, provider, JANE).headers["Location"] == "/accounts/account/closed/"


def test_invited_newcomer_joins_the_account_and_opens_none(
    provider: IdentityProvider, owner: User, account: Account
) -> None:
    path, client = invite(account, owner, "jane@shop.example"), browser()
    assert client.get(path).status_code == 200
    assert sign_up(client, provider, JANE, next=path).headers["Location"] == path
    assert not Membership.objects.filter(user__email="jane@shop.example").exists()
    client.post(path)
    membership = Membership.objects.get(user__email="jane@shop.example")
    assert (membership.account, membership.role) == (account, Role.DEVELOPER)


def test_invitation_does_not_confirm_another_address(
    provider: IdentityProvider, owner: User, account: Account
) -> None:
    client = browser()
    client.get(invite(account, owner, "vic@shop.example"))
    sign_up(client, provider, JANE)
    assert EmailAddress.objects.exclude(user=owner).get().email == "jane@shop.example"


def test_state_of_another_browser_is_refused(provider: IdentityProvider) -> None:
    connected_user(JANE)
    provider.person = JANE
    stolen, victim = provider.consent(leave(browser(), "google")), browser()
    assert victim.get(stolen).headers["Location"] == "/accounts/login/"
    assert not is_signed_in(victim)


def test_response_counts_once(provider: IdentityProvider) -> None:
    connected_user(JANE)
    client = browser()
    provider.person = JANE
    back = provider.consent(leave(client, "google"))
    client.get(back)
    client.post("/accounts/logout/")
    client.get(back)
    assert not is_signed_in(client)


@pytest.mark.parametrize("at", ["google", "github"])
def test_pkce_binds_the_code_to_the_browser_that_asked(provider: IdentityProvider, at: str) -> None:
    connected_user(JANE, at)
    provider.token_requests.clear()
    url = leave(browser(), at)
    assert "code_challenge_method=S256" in url
    come_back(browser(), provider, JANE, at)
    assert provider.token_requests[-1]["code_verifier"]


def test_canceled_consent_leads_back_to_sign_in(provider: IdentityProvider) -> None:
    client = browser()
    response = client.get(provider.cancel(leave(client, "google")))
    assert response.headers["Location"] == "/accounts/login/"
    assert "confirm who you are" not in client.get("/accounts/login/").content.decode()


def test_provider_that_refuses_is_reported_without_details(
    provider: IdentityProvider, caplog: pytest.LogCaptureFixture
) -> None:
    client = browser()
    provider.is_down = True
    response = come_back(client, provider, JANE)
    assert response.headers["Location"] == "/accounts/login/"
    page = client.get("/accounts/login/").content.decode()
    assert "confirm who you are. Try again." in page
    assert "invalid_grant" not in page


def test_link_to_the_start_leads_to_the_sign_in_page(provider: IdentityProvider) -> None:
    response = browser().get("/accounts/google/login/")
    assert response.headers["Location"] == "/accounts/login/"


def test_network_may_ask_providers_60_times_a_minute(provider: IdentityProvider) -> None:
    client = browser()
    for _ in range(60):
        assert client.get("/accounts/google/login/callback/").status_code == 302
    assert client.get("/accounts/google/login/callback/").status_code == 429


@pytest.mark.parametrize("page", ["/accounts/login/", "/accounts/signup/"])
def test_buttons_and_form_targets_are_those_of_the_providers_that_are_set_up(
    page: str, settings: Settings
) -> None:
    both = settings.SOCIALACCOUNT_PROVIDERS
    for providers, buttons, hosts in (
        (both, ["Google", "GitHub"], " https://accounts.google.com https://github.com"),
        ({"github": both["github"]}, ["GitHub"], " https://github.com"),
        ({}, [], ""),
    ):
        settings.SOCIALACCOUNT_PROVIDERS = providers
        response = Client().get(page)
        assert re.findall(r"Continue with (\w+)", response.content.decode()) == buttons
        assert _form_action(response) == f"form-action 'self'{hosts}"


def test_other_pages_send_their_forms_to_this_site_only() -> None:
    for page in ("/accounts/password/reset/", "/", "/docs/"):
        assert _form_action(Client().get(page)) == "form-action 'self'", page


def test_connection_of_a_user_is_deleted_with_the_user() -> None:
    user = make_user("jane@shop.example")
    connect(user, JANE)
    user.delete()
    assert not SocialAccount.objects.exists()


def _form_action(response: object) -> str:
    policy: str = response.headers["Content-Security-Policy"]  # type: ignore[attr-defined]
    return next(part for part in policy.split("; ") if part.startswith("form-action"))
