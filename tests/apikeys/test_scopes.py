"""What keys with scopes may do, and how scopes are chosen and changed."""

import re
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import Account, AuditEntry, User
from apikeys import services
from apikeys.models import ApiKey
from apikeys.models.keys import LEGACY_SCOPES
from apikeys.rest.reference import operations
from apikeys.scopes import SCOPES, is_wider
from runtime.models import Mail
from tests.support.api_client import ApiClient
from tests.support.second_factors import add_authenticator_app

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

WITHOUT_SCOPE = {"show-me"}


def make_key(account: Account, scopes: list[str] | None) -> tuple[ApiKey, ApiClient]:
    key, secret = services.create_key(account=account, name="Scoped", scopes=scopes, actor=None)
    return key, ApiClient(secret)


def test_every_operation_requires_a_scope_but_one() -> None:
    assert {one.id for one in operations() if not one.scope} == WITHOUT_SCOPE
    assert {one.scope for one in operations()} <= {"", *SCOPES}


def test_key_without_the_scope_is_refused_by_every_operation(account: Account) -> None:
    callers = {
        scope: make_key(account, [other for other in SCOPES if other != scope])[1]
        for scope in SCOPES
    }
    for operation in filter(lambda one: one.scope, operations()):
        path = re.sub(r"{\w+}", "1", operation.path)
        response = callers[operation.scope].call(operation.method, path)
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (403, "insufficient_scope"), operation.id
        assert error["type"] == "permission_error"
        assert error["details"] == {"required": operation.scope}
        assert operation.scope in error["message"]
        assert "X-RateLimit-Remaining" in response.headers
        assert "Retry-After" not in response.headers


def test_key_with_only_the_scope_is_accepted(account: Account) -> None:
    assert make_key(account, ["validate"])[1].validate("jane@sandbox.test").status_code == 200
    for path, scope in (
        ("/v1/lists", "lists:read"),
        ("/v1/domains", "domains:read"),
        ("/v1/usage", "usage:read"),
        ("/v1/credits", "usage:read"),
    ):
        caller = make_key(account, [scope])[1]
        assert caller.get(path).status_code == 200
        assert caller.call("HEAD", path).status_code == 200


def test_scopes_hide_no_404_and_no_405(account: Account) -> None:
    caller = make_key(account, ["usage:read"])[1]
    assert caller.get("/v1/nothing").json()["error"]["code"] == "not_found"
    assert caller.get("/v1/validate").json()["error"]["code"] == "method_not_allowed"


def test_own_key_shows_its_scopes(account: Account) -> None:
    for scopes in (None, ["validate"], ["lists:read", "usage:read"]):
        assert make_key(account, scopes)[1].get("/v1/me").json()["key"]["scopes"] == scopes


def test_keys_from_before_scopes_can_do_what_they_could(account: Account) -> None:
    key, caller = make_key(account, LEGACY_SCOPES.split())
    assert caller.get("/v1/domains").status_code == 200
    assert {*SCOPES} - set(key.scope_names or []) == {"events:read", "webhooks:write"}


@pytest.mark.parametrize(
    ("scopes", "before", "result"),
    [
        (None, None, False),
        (["validate"], None, False),
        (None, ["validate"], True),
        (["validate"], ["validate", "lists:read"], False),
        (["validate", "lists:read"], ["validate"], True),
    ],
)
def test_wider_scopes_are_recognized(
    scopes: list[str] | None, before: list[str] | None, result: bool
) -> None:
    assert is_wider(scopes, before) is result


class TestCommand:
    def test_key_has_full_access_or_the_chosen_scopes(self, owner: User, account: Account) -> None:
        call_command("create_key", owner.email, name="All")
        call_command("create_key", owner.email, name="Few", scopes="validate, lists:read")
        keys = account.api_keys.order_by("pk")
        assert [key.scope_names for key in keys] == [None, ["validate", "lists:read"]]

    @pytest.mark.parametrize("scopes", ["", "everything", "validate,"])
    def test_unknown_scope_creates_no_key(self, owner: User, account: Account, scopes: str) -> None:
        with pytest.raises(CommandError, match="--scopes must be one or more of validate, lists"):
            call_command("create_key", owner.email, name="Wrong", scopes=scopes)
        assert not account.api_keys.exists()


class TestPages:
    def post(self, client: Client, path: str, **fields: object) -> str:
        sent = {"name": "Server", "form_token": "f" * 32, **fields}
        return client.post(path, sent, follow=True).content.decode()

    def test_key_is_created_with_the_chosen_access(self, browser: Client, account: Account) -> None:
        two, validation = ["lists:read", "usage:read"], {"access": "validation"}
        cases: list[tuple[dict[str, Any], list[str] | None]] = [
            (validation, ["validate"]),
            ({**validation, "scopes": ["lists:read"]}, ["validate"]),
            ({"access": "full"}, None),
            ({"access": "custom", "scopes": two}, two),
        ]
        for number, (fields, scopes) in enumerate(cases):
            self.post(browser, "/apikeys/create/", form_token=f"{number:032}", **fields)
            assert account.api_keys.latest("pk").scope_names == scopes, fields
        assert account.api_keys.count() == len(cases)

    def test_validation_only_is_preselected_and_custom_access_needs_a_scope(
        self, browser: Client, account: Account
    ) -> None:
        form = browser.get("/apikeys/create/").content.decode()
        assert re.search(r'value="validation"[^>]* checked', form)
        page = self.post(browser, "/apikeys/create/", access="custom")
        assert "Choose at least one scope." in page
        assert not account.api_keys.exists()

    def test_access_is_shown_and_changed(self, browser: Client, account: Account) -> None:
        key = make_key(account, ["lists:read", "usage:read"])[0]
        assert "lists:read, usage:read" in browser.get("/apikeys/").content.decode()
        path = f"/apikeys/{key.public_id}/change/"
        page = browser.get(path).content.decode()
        assert re.search(r'value="custom"[^>]* checked', page)
        assert re.search(r'value="usage:read"[^>]* checked', page)
        self.post(browser, path, access="validation")
        key.refresh_from_db()
        assert key.scope_names == ["validate"]
        assert "validation only" in AuditEntry.objects.filter(action="key.changed").get().target
        assert "these scopes: validate" in Mail.objects.latest("pk").text

    def test_more_scopes_need_the_second_factor(
        self, browser: Client, owner: User, account: Account
    ) -> None:
        add_authenticator_app(owner)
        key = make_key(account, ["validate", "usage:read"])[0]
        path = f"/apikeys/{key.public_id}/change/"
        self.post(browser, path, access="full")
        key.refresh_from_db()
        assert key.scope_names == ["validate", "usage:read"]
        self.post(browser, path, access="validation")
        key.refresh_from_db()
        assert key.scope_names == ["validate"]
