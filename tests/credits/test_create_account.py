from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import Account, User

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def create_account(*arguments: str) -> str:
    out = StringIO()
    call_command("create_account", *arguments, stdout=out)
    return out.getvalue()


def test_create_account_prints_a_working_address_and_password_on_one_line() -> None:
    line = create_account("Jane@Shop.example")
    email, password = line.strip().split(" ")
    assert email == "jane@shop.example"
    response = Client().post("/accounts/login/", {"login": email, "password": password})
    assert response.headers["Location"] == "/validation/"


def test_create_account_sets_staff_status_and_rate_limit() -> None:
    create_account("jane@shop.example", "--staff", "--requests-per-minute", "7")
    assert User.objects.get().is_staff
    assert Account.objects.get().requests_per_minute_override == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["not an address"], "is not a valid email address"),
        (["jane@shop.example", "--requests-per-minute", "0"], "must be 1 to 1,000,000"),
        (["jane@shop.example", "--requests-per-minute", str(10**20)], "must be 1 to 1,000,000"),
    ],
)
def test_create_account_names_invalid_input_and_creates_nothing(
    arguments: list[str], message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        create_account(*arguments)
    assert not User.objects.exists()


def test_create_account_refuses_an_existing_address() -> None:
    create_account("jane@shop.example")
    with pytest.raises(CommandError, match="already has an account"):
        create_account("JANE@shop.example")
