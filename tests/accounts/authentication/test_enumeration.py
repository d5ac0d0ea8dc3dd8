"""Strangers cannot learn whether an address has an account: not from text, status, headers."""

import re
import time
from typing import Any

import pytest
from django.contrib.auth.hashers import check_password
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from accounts.middleware import until_the_beat
from accounts.models import User
from runtime.models import Mail
from tests.accounts.authentication.test_sign_up import code_in_mail
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

FORMS = {
    "sign-up": ("/accounts/signup/", {"password1": PASSWORD}, "email"),
    "sign-in": ("/accounts/login/", {"password": "a wrong password"}, "login"),
    "reset": ("/accounts/password/reset/", {}, "email"),
}
TAKEN, FREE = "owner@shop.example", "nobody@shop.example"


def send(form: str, email: str) -> tuple[Client, Any]:
    path, data, field = FORMS[form]
    client = Client()
    answer = client.post(path, {**data, field: email})
    return client, answer


def without_what_always_differs(answer: Any) -> str:
    text = answer.content.decode().replace(TAKEN, "ADDRESS").replace(FREE, "ADDRESS")
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)


@pytest.mark.parametrize("form", FORMS)
def test_the_answer_is_the_same(form: str, owner: User) -> None:
    _, taken = send(form, TAKEN)
    _, free = send(form, FREE)
    assert taken.status_code == free.status_code
    assert set(taken.headers) == set(free.headers)
    assert taken.headers.get("Location") == free.headers.get("Location")
    assert without_what_always_differs(taken) == without_what_always_differs(free)
    assert set(taken.cookies) == set(free.cookies)


@pytest.mark.parametrize("form", ["sign-up", "reset"])
def test_the_page_after_it_is_the_same(form: str, owner: User) -> None:
    pages = []
    for email in (TAKEN, FREE):
        client, answer = send(form, email)
        pages.append(without_what_always_differs(client.get(answer.headers["Location"])))
    assert pages[0] == pages[1]


def test_a_wrong_code_is_answered_the_same(owner: User) -> None:
    pages = []
    for email in (TAKEN, FREE):
        client, _ = send("sign-up", email)
        answer = client.post("/accounts/confirm-email/", {"code": "AAAA-AAAA"})
        pages.append(without_what_always_differs(answer))
    assert pages[0] == pages[1]


def test_only_the_mailbox_learns_that_the_address_is_taken(owner: User) -> None:
    send("sign-up", TAKEN)
    assert Mail.objects.get().subject == "Email Validation: You already have an account"


def test_an_unknown_address_gets_no_reset_mail(owner: User) -> None:
    send("reset", FREE)
    assert not Mail.objects.exists()


def test_the_mail_names_the_address_that_was_tried(owner: User) -> None:
    send("sign-up", TAKEN)
    assert f"create an account with {TAKEN}." in Mail.objects.get().text


def test_signing_up_and_then_in_tells_nothing(owner: User) -> None:
    pages = []
    for email in (TAKEN, FREE):
        Client().post("/accounts/signup/", {"email": email, "password1": "my own long password"})
        cache.clear()
        answer = Client().post(
            "/accounts/login/", {"login": email, "password": "my own long password"}
        )
        pages.append((answer.status_code, without_what_always_differs(answer)))
    assert pages[0] == pages[1]


def test_an_unconfirmed_sign_up_begins_afresh_and_the_first_code_is_void() -> None:
    first, second = Client(), Client()
    first.post("/accounts/signup/", {"email": FREE, "password1": PASSWORD})
    code = code_in_mail()
    # One code in ten seconds: they pass.
    cache.clear()
    second.post("/accounts/signup/", {"email": FREE, "password1": "another long password"})
    first.post("/accounts/confirm-email/", {"code": code})
    assert first.get("/validation/").status_code == 302
    second.post("/accounts/confirm-email/", {"code": code_in_mail()})
    assert second.get("/validation/").status_code == 200
    assert check_password("another long password", User.objects.get().password)


def test_an_unconfirmed_sign_up_gets_no_reset_mail() -> None:
    send("sign-up", FREE)
    Mail.objects.all().delete()
    send("reset", FREE)
    assert not Mail.objects.exists()


@pytest.mark.parametrize("form", FORMS)
def test_no_answer_leaves_before_the_first_beat(form: str, owner: User, settings: Settings) -> None:
    settings.EVEN_TIME_SECONDS = 0.3
    started = time.monotonic()
    send(form, TAKEN)
    assert time.monotonic() - started >= 0.3


@pytest.mark.parametrize(
    ("elapsed", "beat", "pause"), [(0.1, 0.3, 0.2), (0.4, 0.3, 0.2), (0.6, 0.3, 0), (0, 0.3, 0)]
)
def test_an_answer_waits_for_the_next_beat(elapsed: float, beat: float, pause: float) -> None:
    assert until_the_beat(elapsed, beat) == pytest.approx(pause)
