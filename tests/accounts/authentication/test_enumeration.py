"""Text, status, headers and timing do not reveal whether an address has an account."""

import re
import time
from typing import Any

import pytest
from django.contrib.auth.hashers import check_password
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from accounts.middleware import seconds_to_next_step
from accounts.models import User
from runtime.models import Mail
from tests.conftest import PASSWORD
from tests.support.received_email import code_in_email

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

FORMS = {
    "sign-up": ("/accounts/signup/", {"password1": PASSWORD}, "email"),
    "sign-in": ("/accounts/login/", {"password": "a wrong password"}, "login"),
    "reset": ("/accounts/password/reset/", {}, "email"),
}
TAKEN, FREE = "owner@shop.example", "free@shop.example"


def send(form: str, email: str) -> tuple[Client, Any]:
    path, data, field = FORMS[form]
    client = Client()
    response = client.post(path, {**data, field: email})
    return client, response


def normalize(response: Any) -> str:
    text = response.content.decode().replace(TAKEN, "ADDRESS").replace(FREE, "ADDRESS")
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)


@pytest.mark.parametrize("form", FORMS)
def test_response_is_the_same_for_taken_and_free_addresses(form: str, owner: User) -> None:
    _, taken = send(form, TAKEN)
    _, free = send(form, FREE)
    assert taken.status_code == free.status_code
    assert set(taken.headers) == set(free.headers)
    assert taken.headers.get("Location") == free.headers.get("Location")
    assert normalize(taken) == normalize(free)
    assert set(taken.cookies) == set(free.cookies)


@pytest.mark.parametrize("form", ["sign-up", "reset"])
def test_next_pages_are_the_same_for_taken_and_free_addresses(form: str, owner: User) -> None:
    pages = []
    for email in (TAKEN, FREE):
        client, response = send(form, email)
        shown = [client.get(response.headers["Location"])]
        if form == "sign-up":
            shown += [client.post("/accounts/confirm-email/", {"code": "AAAA-AAAA"})]
        pages.append([normalize(page) for page in shown])
    assert pages[0] == pages[1]


def test_only_the_email_reveals_that_the_address_is_taken(owner: User) -> None:
    send("sign-up", TAKEN)
    assert Mail.objects.get().subject == "Email Validation: You already have an account"
    assert f"create an account with {TAKEN}." in Mail.objects.get().text


def test_sign_up_followed_by_sign_in_reveals_nothing(owner: User) -> None:
    pages = []
    for email in (TAKEN, FREE):
        Client().post("/accounts/signup/", {"email": email, "password1": "my own long password"})
        cache.clear()
        response = Client().post(
            "/accounts/login/", {"login": email, "password": "my own long password"}
        )
        pages.append((response.status_code, normalize(response)))
    assert pages[0] == pages[1]


def test_second_sign_up_before_confirmation_voids_the_first_code() -> None:
    first, second = Client(), Client()
    first.post("/accounts/signup/", {"email": FREE, "password1": PASSWORD})
    code = code_in_email()
    # Wait out the limit of one code per ten seconds.
    cache.clear()
    second.post("/accounts/signup/", {"email": FREE, "password1": "another long password"})
    first.post("/accounts/confirm-email/", {"code": code})
    assert first.get("/validation/").status_code == 302
    second.post("/accounts/confirm-email/", {"code": code_in_email()})
    assert second.get("/validation/").status_code == 200
    assert check_password("another long password", User.objects.get().password)


def test_unknown_or_unconfirmed_address_gets_no_reset_email(owner: User) -> None:
    send("sign-up", FREE)
    Mail.objects.all().delete()
    send("reset", FREE)
    assert not Mail.objects.exists()
    send("reset", FREE)
    assert not Mail.objects.exists()


def test_no_response_is_sent_before_its_interval_ends(
    owner: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RESPONSE_TIME_STEP_SECONDS = 1_000
    for form in FORMS:
        pauses: list[float] = []
        monkeypatch.setattr(time, "sleep", pauses.append)
        send(form, TAKEN)
        # The response itself took less than 900 seconds.
        assert [pause for pause in pauses if 100 < pause < 1_000], form


@pytest.mark.parametrize(
    ("elapsed", "interval", "pause"), [(0.1, 0.3, 0.2), (0.4, 0.3, 0.2), (0.6, 0.3, 0), (0, 0.3, 0)]
)
def test_response_waits_for_the_end_of_the_interval(
    elapsed: float, interval: float, pause: float
) -> None:
    assert seconds_to_next_step(elapsed, interval) == pytest.approx(pause)
