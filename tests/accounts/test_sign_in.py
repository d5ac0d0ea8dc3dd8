import re

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session
from django.test import Client

from accounts.models import Mail, User
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
    ["//evil.example", "https://evil.example", "/\\evil.example", "https:evil.example", "\t//evil"],
)
def test_next_never_leaves_the_site(owner: User, target: str) -> None:
    answer = Client().post(LOGIN, {"login": owner.email, "password": PASSWORD, "next": target})
    assert answer.headers["Location"] == "/validation/"


def test_wrong_passwords_slow_that_account_and_no_other(owner: User, stranger: User) -> None:
    client = Client()
    for _ in range(5):
        client.post(LOGIN, {"login": owner.email, "password": "wrong"})
    refused = client.post(LOGIN, {"login": owner.email, "password": PASSWORD})
    assert b"Too many" in refused.content
    assert signed_in(stranger)


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
    from datetime import timedelta

    from allauth.usersessions.models import UserSession
    from django.utils import timezone

    client = signed_in(owner)
    assert client.get("/accounts/2fa/totp/activate/").status_code == 200
    UserSession.objects.update(created_at=timezone.now() - timedelta(hours=1))
    answer = client.get("/accounts/2fa/totp/activate/")
    assert answer.headers["Location"].startswith("/accounts/reauthenticate/")


def test_a_second_factor_stands_between_password_and_account(owner: User, client: Client) -> None:
    Authenticator.objects.create(user=owner, type=Authenticator.Type.TOTP, data={"secret": "x"})
    answer = client.post(LOGIN, {"login": owner.email, "password": PASSWORD})
    assert answer.headers["Location"].startswith("/accounts/2fa/authenticate/")
    assert client.get("/validation/").status_code == 302
