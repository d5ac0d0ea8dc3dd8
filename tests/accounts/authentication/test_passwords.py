import re
from datetime import timedelta
from pathlib import Path

import argon2
import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import check_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from tests.conftest import PASSWORD, make_user
from tests.servers.gevent_process import run_patched

pytestmark = pytest.mark.anywhere

NEW_PASSWORD = "a new long password"


@pytest.mark.parametrize(
    "password",
    [
        *("password123", "Password2026!", "!!qwerty!!!!", "1234567890", "iloveyou12345"),
        *("emailvalidation", "Email-Validation-1", "validator2026", "changeme!!!!"),
        *("aaaaaaaaaaaa", "abcabcabcabc", "12121212121212", "...........", "svc_live_123"),
    ],
)
def test_easily_guessed_password_is_refused(password: str) -> None:
    with pytest.raises(ValidationError, match="This password is too common"):
        validate_password(password)


@pytest.mark.parametrize(
    "password",
    [
        *(PASSWORD, "8670153942", "þæð ðær swá", "\U0001f600\U0001f438\U0001f34b" * 4 + "x"),
        *(
            "lower case only words",
            "UPPERCASEWORDS",
            "~!{}^%$#;:<>",
            "a" * 63 + "b",
            "x1" * 100 + "y",
        ),
    ],
)
def test_password_may_have_any_composition_and_length(password: str) -> None:
    validate_password(password)


@pytest.mark.django_db
@pytest.mark.parametrize("password", ["  Spaces around it  ", "Ünïcödé wörds", "x" * 200 + "Y end"])
def test_password_is_compared_exactly_as_typed(password: str) -> None:
    user = make_user("jane@shop.example")
    user.set_password("an earlier long one")
    user.save()
    browser = Client()
    browser.post("/accounts/login/", {"login": user.email, "password": "an earlier long one"})
    form = {"oldpassword": "an earlier long one", "password1": password, "password2": password}
    browser.post("/accounts/password/change/", form)
    for typed, is_correct in (
        (password, True),
        (password.swapcase(), False),
        (password.strip() if password != password.strip() else password[:-1], False),
    ):
        client = Client()
        client.post("/accounts/login/", {"login": user.email, "password": typed})
        assert (client.get("/accounts/profile/").status_code == 200) is is_correct, typed


@pytest.mark.django_db
def test_password_change_requires_the_current_password(owner: User) -> None:
    browser = Client()
    browser.post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
    for old in ("", "a wrong password"):
        form = {"oldpassword": old, "password1": "a new long one", "password2": "a new long one"}
        browser.post("/accounts/password/change/", form)
        owner.refresh_from_db()
        assert owner.check_password(PASSWORD)
    assert EmailAddress.objects.filter(user=owner, verified=True).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/accounts/login/", "/accounts/signup/"])
def test_password_field_is_masked_and_allows_paste_and_autofill(path: str) -> None:
    page = Client().get(path).content.decode()
    field = page[page.index('type="password"') - 100 :][:400]
    assert 'autocomplete="' in field
    assert 'autocomplete="off"' not in field
    assert "onpaste" not in page
    assert "readonly" not in field


@pytest.mark.django_db
def test_security_page_says_when_the_password_was_changed(browser: Client) -> None:
    assert b"Not changed since you joined on" in browser.get("/accounts/security/").content
    form = {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD}
    with time_machine.travel(timezone.now() - timedelta(days=1)):
        browser.post("/accounts/password/change/", form)
    page = browser.get("/accounts/security/").content.decode()
    assert re.search(r"Changed <time [^>]*>1.day ago</time>\.", page)


@pytest.mark.django_db
def test_hash_with_other_parameters_is_replaced_at_the_next_sign_in(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["accounts.authentication.passwords.hashers.Argon2PasswordHasher"]
    expensive = argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=2).hash(PASSWORD)
    user = User.objects.create(email="jane@shop.example", password=f"argon2{expensive}")
    assert not user.check_password("wrong")
    assert user.password == f"argon2{expensive}"
    assert user.check_password(PASSWORD)
    user.refresh_from_db()
    # The minimum cost that OWASP recommends.
    parameters = argon2.extract_parameters(user.password.removeprefix("argon2"))
    costs = (parameters.time_cost, parameters.memory_cost, parameters.parallelism)
    assert (parameters.type, *costs) == (argon2.Type.ID, 2, 19 * 1024, 1)
    assert check_password(PASSWORD, user.password)


def test_hashing_does_not_block_other_requests_of_the_worker(tmp_path: Path) -> None:
    assert int(run_patched("tests.accounts.authentication.gevent_hashing", tmp_path)) > 0
