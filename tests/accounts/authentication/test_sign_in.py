import re
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode, urljoin, urlsplit

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from django.utils.http import int_to_base36

from accounts.models import User
from runtime.models import Mail
from tests.conftest import PASSWORD, signed_in

pytestmark = pytest.mark.django_db

LOGIN = "/accounts/login/"


def test_the_case_of_the_address_does_not_matter(owner: User, client: Client) -> None:
    answer = client.post(LOGIN, {"login": "OWNER@Shop.Example", "password": PASSWORD})
    assert answer.headers["Location"] == "/validation/"


def test_the_session_id_changes_at_sign_in_and_dies_at_sign_out(owner: User) -> None:
    client = Client()
    client.get("/accounts/login/?next=/accounts/team/")
    before = client.cookies.get("session")
    client.post(LOGIN, {"login": owner.email, "password": PASSWORD})
    during = client.cookies["session"].value
    assert before is None or before.value != during
    client.post("/accounts/logout/")
    assert not Session.objects.filter(session_key=during).exists()


@pytest.mark.parametrize(
    "target",
    [
        *("//evil.example", "https://evil.example", "/\\evil.example", "https:evil.example"),
        *("\t//evil.example", "/\t/evil.example", "\\\\evil.example", "///evil.example"),
        *(
            "https:/evil.example",
            "javascript:alert(1)",
            "data:text/html,x",
            "http:\\\\evil.example",
        ),
        *("//evil.example%2f@127.0.0.1", "https://127.0.0.1@evil.example/", "/\x00/evil.example"),
        *("/%09/evil.example", "%2f%2fevil.example", "\u3000//evil.example", "//evil\u3002example"),
    ],
)
def test_next_never_leaves_the_site(owner: User, target: str) -> None:
    """Where a page leads to another, whatever its address or form asks for."""
    sign_in = {"login": owner.email, "password": PASSWORD}
    proof = {"password": PASSWORD}
    tries = [
        Client().post(LOGIN, {**sign_in, "next": target}),
        Client().post(f"{LOGIN}?{urlencode({'next': target})}", sign_in),
        signed_in(owner).get(LOGIN, {"next": target}),
        signed_in(owner).get("/accounts/signup/", {"next": target}),
        signed_in(owner).post("/accounts/reauthenticate/", {**proof, "next": target}),
        signed_in(owner).post(f"/accounts/reauthenticate/?{urlencode({'next': target})}", proof),
        signed_in(owner).post("/accounts/logout/", {"next": target}),
        signed_in(owner).post("/accounts/account/switch/", {"next": target}),
        Client().get("/admin/login/", {"next": target}, follow=True),
    ]
    for answer in tries:
        where = urljoin("http://testserver/", answer.headers.get("Location", "/"))
        assert urlsplit(where.replace("\\", "/")).netloc == "testserver", where
        assert 'href="//' not in answer.content.decode()


def test_wrong_passwords_slow_that_account_and_no_other(owner: User, stranger: User) -> None:
    client = Client()
    for _ in range(5):
        client.post(LOGIN, {"login": owner.email, "password": "wrong"})
    refused = client.post(LOGIN, {"login": owner.email, "password": PASSWORD})
    assert b"Too many" in refused.content
    assert signed_in(stranger)


def test_a_clock_that_is_set_back_keeps_nobody_from_signing_in(owner: User) -> None:
    client = Client()
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=1)):
        for _ in range(5):
            client.post(LOGIN, {"login": owner.email, "password": "wrong"})
        refused = client.post(LOGIN, {"login": owner.email, "password": PASSWORD})
    assert b"Too many" in refused.content
    assert signed_in(owner)


def test_a_reset_link_works_once_and_comes_from_base_url(owner: User, client: Client) -> None:
    client.post("/accounts/password/reset/", {"email": owner.email}, headers={"host": "localhost"})
    url = re.search(r"^http\S+/reset/key/\S+$", Mail.objects.get().text, re.M)
    assert url
    assert url[0].startswith("http://127.0.0.1:8000/accounts/password/reset/key/")
    path = url[0].removeprefix("http://127.0.0.1:8000")
    form = client.get(path).headers["Location"]
    client.post(form, {"password1": "a new long password", "password2": "a new long password"})
    assert b"no longer works" in Client().get(path).content
    owner.refresh_from_db()
    assert owner.check_password("a new long password")


def test_changing_the_password_ends_every_other_session(owner: User) -> None:
    here, elsewhere = signed_in(owner), signed_in(owner)
    new = "a new long password"
    here.post(
        "/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new, "password2": new}
    )
    assert here.get("/validation/").status_code == 200
    assert elsewhere.get("/validation/").status_code == 302


def test_pages_of_who_is_signed_in_are_kept_by_no_browser(owner: User) -> None:
    assert "no-store" in signed_in(owner).get("/accounts/team/").headers["Cache-Control"]


def test_sign_out_everywhere_else(owner: User) -> None:
    here, elsewhere = signed_in(owner), signed_in(owner)
    here.post("/accounts/sessions/")
    assert here.get("/validation/").status_code == 200
    assert elsewhere.get("/validation/").status_code == 302


def test_a_new_address_takes_over_only_once_it_is_confirmed(owner: User) -> None:
    client = signed_in(owner)
    client.post("/accounts/email/", {"action_add": "", "email": "new@shop.example"})
    owner.refresh_from_db()
    assert owner.email == "owner@shop.example"
    code = re.search(r"^([A-Z0-9]{4}-[A-Z0-9]{4})$", Mail.objects.latest("pk").text, re.M)
    assert code
    client.post("/accounts/confirm-email/", {"code": code[1]})
    owner.refresh_from_db()
    assert owner.email == "new@shop.example"
    assert EmailAddress.objects.get(user=owner).email == "new@shop.example"


def test_a_sensitive_page_asks_again_after_a_while(owner: User) -> None:
    client = signed_in(owner)
    assert client.get("/accounts/2fa/totp/activate/").status_code == 200
    UserSession.objects.update(created_at=timezone.now() - timedelta(hours=1))
    answer = client.get("/accounts/2fa/totp/activate/")
    assert answer.headers["Location"].startswith("/accounts/reauthenticate/")


def test_the_session_id_changes_where_one_proves_again_who_one_is(owner: User) -> None:
    browser = signed_in(owner)
    before = browser.cookies["session"].value
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    assert browser.cookies["session"].value != before
    assert not Session.objects.filter(session_key=before).exists()
    assert browser.get("/validation/").status_code == 200
    assert UserSession.objects.get().session_key == browser.cookies["session"].value


@pytest.mark.parametrize("password", ["", "wrong"])
def test_a_failed_proof_changes_nothing(owner: User, password: str) -> None:
    browser = signed_in(owner)
    before = browser.cookies["session"].value
    browser.post("/accounts/reauthenticate/", {"password": password})
    assert browser.cookies["session"].value == before


def test_a_sign_out_empties_what_the_browser_kept(owner: User) -> None:
    browser = signed_in(owner)
    assert "Clear-Site-Data" not in browser.get("/validation/").headers
    assert browser.post("/accounts/logout/").headers["Clear-Site-Data"] == '"cache"'


def test_a_session_is_unguessable_and_ends_after_two_weeks(owner: User) -> None:
    keys = {signed_in(owner).cookies["session"].value for _ in range(5)}
    assert len(keys) == 5
    assert all(re.fullmatch(r"[a-z0-9]{32}", key) for key in keys)
    lasts = signed_in(owner).cookies["session"]["max-age"]
    assert lasts == 14 * 24 * 3600


def test_a_session_of_who_is_switched_off_opens_nothing(owner: User) -> None:
    browser = signed_in(owner)
    User.objects.update(is_active=False)
    assert browser.get("/validation/").status_code == 302


def test_a_reset_link_works_for_an_hour(owner: User, client: Client) -> None:
    path = reset_path(owner, client)
    with time_machine.travel(timezone.now() + timedelta(minutes=59), tick=False):
        assert b"no longer works" not in Client().get(path, follow=True).content
    with time_machine.travel(timezone.now() + timedelta(minutes=61), tick=False):
        assert b"no longer works" in Client().get(path, follow=True).content


def test_a_changed_reset_link_is_none(owner: User, stranger: User, client: Client) -> None:
    path = reset_path(owner, client)
    whose, token = path.rstrip("/").rpartition("/")[2].split("-", 1)
    others = [
        f"{int_to_base36(stranger.pk)}-{token}",
        f"{whose}-{token[:-1]}{'0' if token[-1] != '0' else '1'}",
        # A later time, under the same signature.
        f"{whose}-zzzzzz{token[6:]}",
        f"{whose}-{token.partition('-')[0]}-",
    ]
    for other in others:
        answer = Client().get(f"/accounts/password/reset/key/{other}/", follow=True)
        assert b"no longer works" in answer.content, other


def test_the_token_of_a_reset_link_is_in_no_address_that_a_page_could_tell(
    owner: User, client: Client
) -> None:
    path = reset_path(owner, client)
    token = path.rstrip("/").rpartition("-")[2]
    answer = Client().get(path, follow=True)
    assert token not in answer.redirect_chain[-1][0]
    assert token not in answer.content.decode()
    assert answer.headers["Referrer-Policy"] == "same-origin"


def test_a_new_password_ends_every_session_and_an_older_link(owner: User, client: Client) -> None:
    elsewhere = signed_in(owner)
    first = reset_path(owner, client)
    form = Client()
    where = form.get(first).headers["Location"]
    form.post(where, {"password1": "a new long one", "password2": "a new long one"})
    assert elsewhere.get("/validation/").status_code == 302
    assert b"no longer works" in Client().get(first, follow=True).content


def reset_path(owner: User, client: Client) -> str:
    client.post("/accounts/password/reset/", {"email": owner.email})
    url = re.search(r"^http\S+(/accounts/password/reset/key/\S+)$", Mail.objects.get().text, re.M)
    assert url
    return url[1]


def test_a_second_factor_stands_between_password_and_account(owner: User, client: Client) -> None:
    Authenticator.objects.create(user=owner, type=Authenticator.Type.TOTP, data={"secret": "x"})
    answer = client.post(LOGIN, {"login": owner.email, "password": PASSWORD})
    assert answer.headers["Location"].startswith("/accounts/2fa/authenticate/")
    assert client.get("/validation/").status_code == 302
