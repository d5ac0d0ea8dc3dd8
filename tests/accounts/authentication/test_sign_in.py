import re
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode, urljoin, urlsplit

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from django.utils.http import int_to_base36

from accounts.models import User
from tests.conftest import PASSWORD, signed_in, signed_in_by_form
from tests.support.received_email import path_in_email

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

LOGIN = "/accounts/login/"


def test_case_of_the_address_does_not_matter(owner: User, client: Client) -> None:
    response = client.post(LOGIN, {"login": "OWNER@Shop.Example", "password": PASSWORD})
    assert response.headers["Location"] == "/validation/"


def test_session_id_changes_at_sign_in_and_is_deleted_at_sign_out(owner: User) -> None:
    client = Client()
    client.get("/accounts/login/?next=/accounts/team/")
    before = client.cookies.get("session")
    client.post(LOGIN, {"login": owner.email, "password": PASSWORD})
    during = client.cookies["session"].value
    assert client.cookies["session"]["max-age"] == 14 * 24 * 3600
    assert before is None or before.value != during
    client.post("/accounts/logout/")
    assert not Session.objects.filter(session_key=during).exists()


@pytest.mark.parametrize(
    "target",
    [
        *("//evil.example", "https://evil.example", "/\\evil.example", "https:evil.example"),
        *("\t//evil.example", "/\t/evil.example", "\\\\evil.example", "///evil.example"),
        *("https:/evil.example", "javascript:alert(1)", "http:\\\\evil.example"),
        "data:text/html,x",
        *("//evil.example%2f@127.0.0.1", "https://127.0.0.1@evil.example/", "/\x00/evil.example"),
        *("/%09/evil.example", "%2f%2fevil.example", "\u3000//evil.example", "//evil\u3002example"),
    ],
)
def test_next_never_leaves_the_site(owner: User, target: str) -> None:
    """No page redirects to another site, whatever its URL or form says."""
    sign_in = {"login": owner.email, "password": PASSWORD}
    proof = {"password": PASSWORD}
    browser = signed_in(owner)
    responses = [
        Client().post(LOGIN, {**sign_in, "next": target}),
        Client().post(f"{LOGIN}?{urlencode({'next': target})}", sign_in),
        browser.get(LOGIN, {"next": target}),
        browser.get("/accounts/signup/", {"next": target}),
        browser.post("/accounts/reauthenticate/", {**proof, "next": target}),
        browser.post(f"/accounts/reauthenticate/?{urlencode({'next': target})}", proof),
        browser.post("/accounts/account/switch/", {"next": target}),
        browser.post("/accounts/logout/", {"next": target}),
        Client().get("/admin/login/", {"next": target}, follow=True),
    ]
    for response in responses:
        url = urljoin("http://testserver/", response.headers.get("Location", "/"))
        assert urlsplit(url.replace("\\", "/")).netloc == "testserver", url
        assert 'href="//' not in response.content.decode()


def test_clock_set_back_does_not_block_sign_in(owner: User) -> None:
    client = Client()
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=1)):
        for _ in range(5):
            client.post(LOGIN, {"login": owner.email, "password": "wrong"})
        refused = client.post(LOGIN, {"login": owner.email, "password": PASSWORD})
    assert b"Too many" in refused.content
    assert signed_in_by_form(owner)


def test_reset_link_of_the_sites_address_works_once_and_ends_every_session(
    owner: User, client: Client
) -> None:
    elsewhere = signed_in_by_form(owner)
    path = reset_path(owner, client)
    form = client.get(path).headers["Location"]
    client.post(form, {"password1": "a new long password", "password2": "a new long password"})
    assert elsewhere.get("/validation/").status_code == 302
    assert b"no longer works" in Client().get(path, follow=True).content
    owner.refresh_from_db()
    assert owner.check_password("a new long password")


@pytest.mark.parametrize("path", ["/accounts/password/change/", "/accounts/sessions/"])
def test_changing_the_password_and_signing_out_elsewhere_end_every_other_session(
    owner: User, path: str
) -> None:
    here, elsewhere = signed_in_by_form(owner), signed_in_by_form(owner)
    new_password = "a new long password"
    form = {"oldpassword": PASSWORD, "password1": new_password, "password2": new_password}
    here.post(path, form)
    assert here.get("/validation/").status_code == 200
    assert elsewhere.get("/validation/").status_code == 302


def test_pages_of_a_signed_in_user_are_not_stored_by_browsers(owner: User) -> None:
    assert "no-store" in signed_in(owner).get("/accounts/team/").headers["Cache-Control"]


def test_sensitive_page_requires_reauthentication_in_an_old_session(owner: User) -> None:
    client = signed_in_by_form(owner)
    assert client.get("/accounts/2fa/totp/activate/").status_code == 200
    UserSession.objects.update(created_at=timezone.now() - timedelta(hours=1))
    response = client.get("/accounts/2fa/totp/activate/")
    assert response.headers["Location"].startswith("/accounts/reauthenticate/")


def test_session_id_changes_only_at_a_successful_reauthentication(owner: User) -> None:
    browser = signed_in_by_form(owner)
    before = browser.cookies["session"].value
    for password in ("", "wrong"):
        browser.post("/accounts/reauthenticate/", {"password": password})
        assert browser.cookies["session"].value == before
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert browser.cookies["session"].value != before
    assert not Session.objects.filter(session_key=before).exists()
    assert browser.get("/validation/").status_code == 200
    assert UserSession.objects.get().session_key == browser.cookies["session"].value


def test_sign_out_clears_the_browser_cache(owner: User) -> None:
    browser = signed_in(owner)
    assert "Clear-Site-Data" not in browser.get("/validation/").headers
    assert browser.post("/accounts/logout/").headers["Clear-Site-Data"] == '"cache"'


def test_session_is_unguessable(owner: User) -> None:
    keys = {signed_in_by_form(owner).cookies["session"].value for _ in range(5)}
    assert len(keys) == 5
    assert all(re.fullmatch(r"[a-z0-9]{32}", key) for key in keys)


def test_session_of_a_deactivated_user_is_refused(owner: User) -> None:
    browser = signed_in(owner)
    User.objects.update(is_active=False)
    assert browser.get("/validation/").status_code == 302


def test_reset_link_works_for_an_hour_and_leads_to_a_page_without_its_token(
    owner: User, client: Client
) -> None:
    path = reset_path(owner, client)
    with time_machine.travel(timezone.now() + timedelta(minutes=59), tick=False):
        response = Client().get(path, follow=True)
    token = path.rstrip("/").rpartition("-")[2]
    assert b"no longer works" not in response.content
    assert token not in response.redirect_chain[-1][0]
    assert token not in response.content.decode()
    assert response.headers["Referrer-Policy"] == "same-origin"
    with time_machine.travel(timezone.now() + timedelta(minutes=61), tick=False):
        assert b"no longer works" in Client().get(path, follow=True).content


def test_altered_reset_link_is_refused(owner: User, stranger: User, client: Client) -> None:
    path = reset_path(owner, client)
    user_id, token = path.rstrip("/").rpartition("/")[2].split("-", 1)
    altered_keys = [
        f"{int_to_base36(stranger.pk)}-{token}",
        f"{user_id}-{token[:-1]}{'0' if token[-1] != '0' else '1'}",
        # A later timestamp with the same signature.
        f"{user_id}-zzzzzz{token[6:]}",
        f"{user_id}-{token.partition('-')[0]}-",
    ]
    for key in altered_keys:
        response = Client().get(f"/accounts/password/reset/key/{key}/", follow=True)
        assert b"no longer works" in response.content, key


def reset_path(owner: User, client: Client) -> str:
    client.post("/accounts/password/reset/", {"email": owner.email}, headers={"host": "localhost"})
    return path_in_email("/accounts/password/reset/key/")


def test_password_alone_does_not_sign_in_a_user_with_a_second_factor(
    owner: User, client: Client
) -> None:
    Authenticator.objects.create(user=owner, type=Authenticator.Type.TOTP, data={"secret": "x"})
    response = client.post(LOGIN, {"login": owner.email, "password": PASSWORD})
    assert response.headers["Location"].startswith("/accounts/2fa/authenticate/")
    assert client.get("/validation/").status_code == 302
