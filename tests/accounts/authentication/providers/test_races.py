"""Parallel requests, each with its own thread and database connection."""

import pytest
from allauth.socialaccount.models import SocialAccount

from tests.accounts.authentication.providers.helpers import CONNECTIONS, connect, connected_user
from tests.conftest import signed_in
from tests.servers.identity_provider import Person
from tests.support.fresh_database import run_concurrently

JANE = Person("jane@shop.example", id="4711")


@pytest.mark.usefixtures("fresh_database")
def test_two_forms_that_disconnect_one_provider_each_leave_one() -> None:
    user = connected_user(JANE)
    rows = [SocialAccount.objects.get(), connect(user, JANE, "github")]
    browsers = [signed_in(user) for _ in rows]

    def disconnect(number: int) -> int:
        form = {"account": rows[number].pk}
        return browsers[number].post(CONNECTIONS, form).status_code

    assert sorted(run_concurrently(2, disconnect)) == [200, 302]
    assert SocialAccount.objects.count() == 1
