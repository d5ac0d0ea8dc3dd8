"""Parallel requests with one code, or one answer of a passkey: each works once, whatever the cache
remembers. Every request has a thread and a connection of its own."""

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import AuditEntry, User
from accounts.services import note_confirmed, open_account
from tests.conftest import PASSWORD, make_user, signed_in
from tests.support.fresh_database import at_once
from tests.support.frozen_minute import freeze_time_but_not_processes
from tests.support.passkey_device import PasskeyDevice
from tests.support.second_factors import (
    SIGN_IN,
    add_passkey,
    begin_passkey_sign_in,
    code_now,
    give_app,
    is_signed_in,
    recovery_codes,
)

__all__ = ["freeze_time_but_not_processes"]

pytestmark = pytest.mark.usefixtures("fresh_database")

TIMES = 5


@pytest.fixture
def owner(fresh_database: None) -> User:
    owner = make_user("owner@shop.example")
    open_account(user=owner, name="The Shop")
    note_confirmed(user=owner)
    return owner


@pytest.fixture
def cache_is_away(settings: Settings) -> None:
    """Remembers nothing, as a worker that Redis does not answer knows nothing of the others."""
    away = {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}
    settings.CACHES = {**settings.CACHES, "default": away}


def half_way_in(user: User) -> list[Client]:
    """Browsers that gave the password."""
    browsers = [Client() for _ in range(TIMES)]
    for browser in browsers:
        browser.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    return browsers


def get_in_with(browsers: list[Client], code: str) -> int:
    """Return how many of them got in with the same code."""

    def give(number: int) -> bool:
        browsers[number].post("/accounts/2fa/authenticate/", {"code": code})
        return is_signed_in(browsers[number])

    return sum(result is True for result in at_once(len(browsers), give))


def test_parallel_requests_with_one_code_sign_in_once(owner: User, cache_is_away: None) -> None:
    give_app(owner)
    assert get_in_with(half_way_in(owner), code_now()) == 1


def test_parallel_requests_with_one_recovery_code_sign_in_once(
    owner: User, cache_is_away: None
) -> None:
    give_app(owner)
    browsers = half_way_in(owner)
    first, second, *_ = recovery_codes(owner)
    assert get_in_with(browsers, first) == 1
    assert first not in recovery_codes(owner)
    assert second in recovery_codes(owner)


def test_parallel_posts_of_one_assertion_sign_in_once(owner: User) -> None:
    """The passkey does not count, so that the challenge alone stops the others."""
    device = PasskeyDevice(counter=0)
    add_passkey(signed_in(owner), device)
    first = Client()
    credential = device.sign_in(begin_passkey_sign_in(first))
    cookie = first.cookies["session"].value
    before = AuditEntry.objects.filter(action="user.signed_in").count()

    def post(number: int) -> bool:
        browser = Client()
        browser.cookies["session"] = cookie
        browser.post(SIGN_IN, {"credential": credential})
        return is_signed_in(browser)

    assert sum(result is True for result in at_once(TIMES, post)) == 1
    assert AuditEntry.objects.filter(action="user.signed_in").count() == before + 1
