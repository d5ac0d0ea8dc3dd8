from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import Account, User

pytestmark = pytest.mark.django_db


def create_account(*arguments: str) -> str:
    out = StringIO()
    call_command("create_account", *arguments, stdout=out)
    return out.getvalue()


def test_it_prints_address_and_password_on_one_line_and_they_open_the_door() -> None:
    line = create_account("Jane@Shop.example")
    email, password = line.strip().split(" ")
    assert email == "jane@shop.example"
    answer = Client().post("/accounts/login/", {"login": email, "password": password})
    assert answer.headers["Location"] == "/validation/"


def test_staff_and_the_own_limit_are_set_when_asked_for() -> None:
    create_account("jane@shop.example", "--staff", "--requests-per-minute", "7")
    assert User.objects.get().is_staff
    assert Account.objects.get().requests_per_minute_override == 7


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["not an address"], "is not an e-mail address"),
        (["jane@shop.example", "--requests-per-minute", "0"], "must be 1 to 1,000,000"),
        (["jane@shop.example", "--requests-per-minute", str(10**20)], "must be 1 to 1,000,000"),
    ],
)
def test_bad_input_is_named_and_leaves_nothing(arguments: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        create_account(*arguments)
    assert not User.objects.exists()


def test_an_address_that_is_taken_is_named() -> None:
    create_account("jane@shop.example")
    with pytest.raises(CommandError, match="has an account already"):
        create_account("JANE@shop.example")
