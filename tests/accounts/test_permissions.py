"""Every page in the URL table: with every role, as a member of another account, and signed out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.db import transaction
from django.template.base import Template
from django.test import Client
from django.urls import reverse

from accounts import team
from accounts.models import Account, Invitation, User
from accounts.roles import ROLES_BY_PERMISSION, Role, TeamPermission
from apikeys.models import ApiKey
from apikeys.services import create_key
from credits.models import Pack
from runtime.dates import to_microseconds
from tests.accounts.webhooks.deliveries import URL, make_delivery
from tests.accounts.webhooks.factory import make_endpoint
from tests.conftest import make_member, make_user, signed_in
from tests.credits.customers import place_order
from tests.support.pages import all_pages, browser_for
from validation.models import LogEntry

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

OUR_APPS = ("accounts", "apikeys", "credits", "validation", "lists", "reference")
# Pages without a permission: open to everyone, or to signed-in users without an account.
PUBLIC = {
    *("reference:show-landing", "reference:check-address", "reference:ask-to-opt-out"),
    *("reference:opt-out", "reference:find-domain", "reference:show-security"),
    *("reference:show-status", "reference:show-status-json", "reference:show-status-feed"),
    *("reference:show-domain", "reference:show-domain-json", "reference:show-all-docs"),
    *("reference:show-llms", "reference:show-robots", "reference:show-sitemap"),
    *("accounts:show-closed", "accounts:show-terms", "accounts:show-privacy"),
    *("accounts:show-data-processing", "accounts:accept-invitation", "accounts:suggest-correction"),
    "credits:receive-stripe-event",
}
WITHOUT_ACCOUNT = {
    *("accounts:add-required-factor", "accounts:confirm-at-provider", "accounts:agree-to-terms"),
    *("accounts:open-account", "accounts:edit-profile", "accounts:change-preferences"),
    "accounts:show-security",
}
# Pages of one object that accept no POST.
READ_ONLY = {
    *("accounts:show-delivery", "accounts:show-event", "accounts:show-webhook"),
    *("apikeys:show-created", "credits:download-invoice", "credits:show-order"),
    *("credits:show-invoice", "lists:download-list", "validation:show-arrival", "lists:show-list"),
    *("lists:show-list-progress", "validation:show-request", "lists:show-upload"),
}
# Pages of plans and packs, which don't belong to an account.
CATALOG = {"credits:order-pack", "credits:order-plan", "credits:choose-later-plan"}
FILLED_IN = {"role": "viewer", "email": "new@shop.example", "name": "A name"}


def required_permission(view: Any) -> TeamPermission | None:
    """Unwrap the decorators of a view until one names its permission."""
    while view is not None and not hasattr(view, "permission"):
        view = getattr(view, "__wrapped__", None)
    return TeamPermission(view.permission) if view else None


PAGES = {
    page.name: page.pattern
    for page in all_pages().values()
    if page.name.partition(":")[0] in OUR_APPS
}
REQUIRED = {
    name: needed for name, page in PAGES.items() if (needed := required_permission(page.callback))
}
# A page of each permission.
ONE_PAGE_EACH = {page: needed for needed, page in {v: k for k, v in REQUIRED.items()}.items()}

# What the URLs contain, of a member of an account.
IDS: dict[str, Callable[[User, Account], object]] = {
    "membership_id": lambda user, account: user.memberships.get(account=account).public_id,
    "invitation_id": lambda _, account: Invitation.objects.get(account=account).public_id,
    "key_id": lambda _, account: ApiKey.objects.get(account=account).public_id,
    "order_id": lambda _, account: account.orders.get().public_id,
    "pack_id": lambda _, account: Pack.objects.earliest("credits").public_id,
    "plan_code": lambda *_: "starter",
    "list_id": lambda _, account: account.lists.get().public_id,
    "endpoint_id": lambda _, account: account.webhooks.get().public_id,
    "delivery_id": lambda _, account: account.webhooks.get().deliveries.get().public_id,
    "event_id": lambda _, account: account.webhooks.get().deliveries.get().event.public_id,
    "result_id": lambda *_: f"val_{'0' * 26}",
    "request_id": lambda *_: "req_00000000000000000000",
    "number": lambda *_: 1,
    "domain": lambda *_: "shop.example",
    "moment": lambda _, account: to_microseconds(LogEntry.objects.get(account=account).at),
}


def url_for(name: str, user: User, account: Account) -> str:
    names = PAGES[name].pattern.converters
    return reverse(name, kwargs={each: IDS[each](user, account) for each in names})


def visit(client: Client, name: str, path: str) -> Any:
    """Request a page as a browser would: views of a form on another page receive a POST."""
    if hasattr(PAGES[name].callback, "form_page"):
        return client.post(path, FILLED_IN)
    return client.get(path)


@pytest.fixture
def invitation(account: Account, owner: User) -> Invitation:
    """Create one row of each kind that URLs contain."""
    create_key(account=account, name="The Shop's key", actor=owner)
    place_order(account, Pack.objects.earliest("credits"))
    LogEntry.objects.create(
        account=account,
        request_id="req_00000000000000000000",
        status=200,
        duration_ms=1,
        address="m***@shop.example",
    )
    account.lists.create(name="customers.csv", created_by=owner.email)
    endpoint = make_endpoint(account, URL, created_by=owner)
    make_delivery(endpoint, name="webhook.test")
    email = "invited@shop.example"
    return team.invite_member(account=account, email=email, role=Role.VIEWER, actor=owner)


def test_every_page_requires_a_permission_or_is_listed_as_public() -> None:
    assert PAGES.keys() - REQUIRED.keys() == PUBLIC | WITHOUT_ACCOUNT


@contextmanager
def undone() -> Iterator[None]:
    """Undo what a visit changes, so that the next one finds all rows."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.mark.parametrize("role", Role)
def test_each_role_gets_exactly_its_permissions(
    role: Role, account: Account, invitation: Invitation, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = make_member(account, role)
    browser = browser_for(user)
    # Only the status matters here.
    monkeypatch.setattr(Template, "_render", lambda *_: "")
    # All pages have the same decorator, so these two roles visit them all.
    visits_all = role in {Role.OWNER, Role.VIEWER}
    for name, needed in (REQUIRED if visits_all else ONE_PAGE_EACH).items():
        with undone():
            response = visit(browser, name, url_for(name, user, account))
        assert (response.status_code != 403) == (role in ROLES_BY_PERMISSION[needed]), name
    assert_signed_in(browser)


def test_member_of_another_account_sees_nothing_of_this_one(
    owner: User, account: Account, invitation: Invitation, stranger: User
) -> None:
    browser = browser_for(stranger)
    secrets = ("The Shop", owner.email, invitation.email, account.public_id, "m***@")
    for name, method in product(REQUIRED, ("get", "post")):
        with undone():
            response = getattr(browser, method)(url_for(name, owner, account), FILLED_IN)
            page = response.getvalue().decode()
            account.refresh_from_db()
        assert_object_is_not_found(response, name, method)
        assert [secret for secret in secrets if secret in page] == [], name
        assert (account.name, account.closed_at) == ("The Shop", None), name
    assert_signed_in(browser)


def assert_signed_in(browser: Client) -> None:
    """Check that no visit signed the browser out, after which pages would redirect it."""
    assert browser.get("/accounts/profile/").status_code == 200


def assert_object_is_not_found(response: Any, name: str, method: str) -> None:
    is_redirected = method == "get" and hasattr(PAGES[name].callback, "form_page")
    is_of_account = PAGES[name].pattern.converters and name not in CATALOG
    if is_of_account and not is_redirected:
        is_read_only = method == "post" and name in READ_ONLY
        assert response.status_code == (405 if is_read_only else 404), name


def test_get_request_for_a_form_view_is_redirected_to_its_page(
    owner: User, account: Account, invitation: Invitation
) -> None:
    browser = browser_for(owner)
    for name, page in PAGES.items():
        if hasattr(page.callback, "form_page"):
            response = browser.get(url_for(name, owner, account))
            assert response.headers["Location"] == reverse(page.callback.form_page), name


def test_user_without_an_account_can_open_their_own_pages(db: None) -> None:
    browser = signed_in(make_user("no-account@team.example"))
    for name in WITHOUT_ACCOUNT:
        assert browser.get(reverse(name), follow=True).status_code == 200, name


def test_malformed_id_is_not_found(owner: User) -> None:
    for malformed in ("a%00b", "mem_short", "1", "mem_" + "x" * 21):
        path = f"/accounts/team/members/{malformed}/remove/"
        assert signed_in(owner).get(path).status_code == 404


@pytest.mark.parametrize("view", ["mfa_edit_webauthn", "mfa_remove_webauthn"])
def test_passkey_of_another_user_is_not_found(view: str, owner: User, stranger: User) -> None:
    passkey = Authenticator.objects.create(user=owner, type=Authenticator.Type.WEBAUTHN, data={})
    response = signed_in(stranger).get(reverse(view, kwargs={"pk": passkey.pk}))
    assert response.status_code == 404


def test_forbidden_page_names_the_roles_that_may_open_it(account: Account) -> None:
    client = signed_in(make_member(account, Role.VIEWER))
    response = client.get("/accounts/account/close/")
    assert b"Your role (Viewer) doesn&#x27;t have access" in response.content
    assert b"Ask an owner." in response.content
    assert b"req_" in response.content
