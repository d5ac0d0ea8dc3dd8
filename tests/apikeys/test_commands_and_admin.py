import re
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Account, User
from accounts.services import open_account
from apikeys.models import MAX_ACTIVE_KEYS, ApiKey
from tests.accounts.staff.staff_pages import client_in_group
from tests.conftest import signed_in
from tests.support.api_client import ApiClient

pytestmark = pytest.mark.django_db


def create_key(email: str, name: str = "Server") -> str:
    printed = StringIO()
    call_command("create_key", email, "--name", name, stdout=printed)
    return printed.getvalue()


def test_create_key_prints_only_a_key_of_the_owners_first_account(
    account: Account, owner: User
) -> None:
    open_account(user=owner, name="The second")
    printed = create_key(owner.email.upper())
    assert re.fullmatch(r"svc_live_[0-9A-Za-z]{38}\n", printed)
    assert ApiClient(printed.strip()).get("/v1/me").json()["account"]["name"] == account.name
    assert ApiKey.objects.get().created_by is None


def test_create_key_reports_invalid_arguments(account: Account, owner: User) -> None:
    with pytest.raises(CommandError, match=r"unknown@shop.example doesn't own an open account"):
        create_key("unknown@shop.example")
    with pytest.raises(CommandError, match="valid email"):
        create_key("\udcff@shop.example")
    for name in ("", "  ", "x" * 51):
        with pytest.raises(CommandError, match="1 to 50 characters"):
            create_key(owner.email, name)
    with pytest.raises(CommandError, match=r"can.t be displayed"):
        create_key(owner.email, "a\nb")
    for _ in range(MAX_ACTIVE_KEYS):
        create_key(owner.email)
    with pytest.raises(CommandError, match="at most 20 active keys"):
        create_key(owner.email)


def test_admin_shows_neither_secret_nor_digest(staff: User, key: ApiKey, secret: str) -> None:
    page = signed_in(staff).get(f"/admin/apikeys/apikey/{key.pk}/change/").content.decode()
    assert key.display in page
    assert key.digest not in page
    assert secret not in page
    filtered = signed_in(staff).get("/admin/apikeys/apikey/", {"digest__startswith": "a"})
    assert filtered.status_code in {302, 400}


def test_staff_can_revoke_a_key(staff: User, key: ApiKey, caller: ApiClient) -> None:
    chosen = {"action": "revoke", "_selected_action": [key.pk]}
    response = signed_in(staff).post("/admin/apikeys/apikey/", chosen, follow=True)
    assert "Revoked: The Shop&#x27;s server." in response.content.decode()
    assert caller.get("/v1/me").status_code == 401


@pytest.mark.parametrize(("group", "can_revoke"), [("Support", True), ("Finance", False)])
def test_support_can_view_and_revoke_keys_but_finance_can_only_view_them(
    key: ApiKey, group: str, can_revoke: bool
) -> None:
    page = client_in_group(group).get("/admin/apikeys/apikey/").content.decode()
    assert key.display in page
    assert ('value="revoke"' in page) is can_revoke
