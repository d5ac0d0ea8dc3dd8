"""Concurrent requests, each with its own thread and database connection."""

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from accounts.models import Account, User
from accounts.services import (
    MAX_OWNED_ACCOUNTS,
    open_account,
    open_another_account,
)
from runtime.http.refusals import Refused
from runtime.models import Mail
from tests.accounts.authentication.providers.helpers import CONNECTIONS, connect, connected_user
from tests.conftest import PASSWORD, make_user, signed_in
from tests.servers.identity_provider import Person
from tests.support.fresh_database import run_concurrently

pytestmark = pytest.mark.usefixtures("fresh_database")


def test_concurrent_requests_do_not_open_more_accounts_than_allowed() -> None:
    user = make_user("owner@shop.example")
    for number in range(MAX_OWNED_ACCOUNTS - 1):
        open_account(user=user, name=f"Shop {number}")
    results = run_concurrently(4, lambda _: open_another_account(user=user, name="Race"))
    assert len([result for result in results if isinstance(result, Refused)]) == 3
    assert Account.objects.count() == MAX_OWNED_ACCOUNTS


def test_parallel_sign_ups_of_one_address_create_one_user() -> None:
    form = {"email": "jane@shop.example", "password1": PASSWORD}
    results = run_concurrently(8, lambda _: Client().post("/accounts/signup/", form).status_code)
    assert results == [302] * 8
    assert User.objects.count() == EmailAddress.objects.count() == 1
    assert Account.objects.filter(closed_at=None).count() == 1
    assert Mail.objects.count() == 3


def test_two_forms_that_disconnect_one_provider_each_leave_one() -> None:
    jane = Person("jane@shop.example", id="4711")
    user = connected_user(jane)
    rows = [SocialAccount.objects.get(), connect(user, jane, "github")]
    browsers = [signed_in(user) for _ in rows]

    def disconnect(number: int) -> int:
        form = {"account": rows[number].pk}
        return browsers[number].post(CONNECTIONS, form).status_code

    assert sorted(run_concurrently(2, disconnect)) == [200, 302]
    assert SocialAccount.objects.count() == 1
