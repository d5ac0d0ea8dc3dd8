"""Parallel requests with one code or one passkey assertion sign in once, even without the cache.

Each request has its own thread and database connection.
"""

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import AuditEntry, User
from tests.conftest import PASSWORD, signed_in_by_form
from tests.credits.customers import get_buyer, sign_up
from tests.support.fresh_database import run_concurrently
from tests.support.frozen_minute import freeze_time_but_not_processes
from tests.support.passkey_device import PasskeyDevice
from tests.support.second_factors import (
    SIGN_IN,
    add_authenticator_app,
    add_passkey,
    begin_passkey_sign_in,
    current_code,
    is_signed_in,
    recovery_codes,
)

__all__ = ["freeze_time_but_not_processes"]

pytestmark = pytest.mark.usefixtures("fresh_database")

PARALLEL_REQUESTS = 5


@pytest.fixture
def owner(fresh_database: None) -> User:
    return get_buyer(sign_up("owner@shop.example"))


@pytest.fixture
def cache_is_down(settings: Settings) -> None:
    """Store nothing in the cache. Without Redis, workers know nothing of each other's requests."""
    dummy = {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}
    settings.CACHES = {**settings.CACHES, "default": dummy}


def browsers_after_password(user: User) -> list[Client]:
    """Return browsers that have passed the password step."""
    browsers = [Client() for _ in range(PARALLEL_REQUESTS)]
    for browser in browsers:
        browser.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    return browsers


def count_sign_ins(browsers: list[Client], code: str) -> int:
    """Return how many browsers sign in with the same code."""

    def send_code(number: int) -> bool:
        browsers[number].post("/accounts/2fa/authenticate/", {"code": code})
        return is_signed_in(browsers[number])

    return sum(result is True for result in run_concurrently(len(browsers), send_code))


def test_parallel_requests_with_one_code_sign_in_once(owner: User, cache_is_down: None) -> None:
    add_authenticator_app(owner)
    assert count_sign_ins(browsers_after_password(owner), current_code()) == 1


def test_parallel_requests_with_one_recovery_code_sign_in_once(
    owner: User, cache_is_down: None
) -> None:
    add_authenticator_app(owner)
    browsers = browsers_after_password(owner)
    first, second, *_ = recovery_codes(owner)
    assert count_sign_ins(browsers, first) == 1
    assert first not in recovery_codes(owner)
    assert second in recovery_codes(owner)


def test_parallel_posts_of_one_assertion_sign_in_once(owner: User) -> None:
    """The passkey has no counter, so only the challenge stops the second request."""
    device = PasskeyDevice(counter=0)
    add_passkey(signed_in_by_form(owner), device)
    first = Client()
    credential = device.sign_in(begin_passkey_sign_in(first))
    cookie = first.cookies["session"].value
    before = AuditEntry.objects.filter(action="user.signed_in").count()

    def post(number: int) -> bool:
        browser = Client()
        browser.cookies["session"] = cookie
        browser.post(SIGN_IN, {"credential": credential})
        return is_signed_in(browser)

    assert sum(result is True for result in run_concurrently(PARALLEL_REQUESTS, post)) == 1
    assert AuditEntry.objects.filter(action="user.signed_in").count() == before + 1
