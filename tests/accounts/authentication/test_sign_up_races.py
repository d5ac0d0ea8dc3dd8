"""Sign-ups are atomic, also in parallel requests."""

import pytest
from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, User
from accounts.retention import delete_unconfirmed_sign_up
from runtime.models import Mail
from tests.conftest import PASSWORD
from tests.support.fresh_database import run_concurrently

SIGN_UP = "/accounts/signup/"
JANE = {"email": "jane@shop.example", "password1": PASSWORD}


@pytest.mark.django_db
def test_refused_sign_up_leaves_nothing_behind(settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"confirm_email": "1/10s/key"}
    Client().post(SIGN_UP, JANE)
    delete_unconfirmed_sign_up(email=JANE["email"])
    assert Client().post(SIGN_UP, JANE).status_code == 429
    assert not User.objects.exists()
    assert not EmailAddress.objects.exists()
    assert not Account.objects.exists()


@pytest.mark.usefixtures("fresh_database")
def test_parallel_sign_ups_of_one_address_create_one_user() -> None:
    cache.clear()
    results = run_concurrently(8, lambda _: Client().post(SIGN_UP, JANE).status_code)
    assert results == [302] * 8
    assert User.objects.count() == EmailAddress.objects.count() == 1
    assert Account.objects.filter(closed_at=None).count() == 1
    assert Mail.objects.count() == 3
