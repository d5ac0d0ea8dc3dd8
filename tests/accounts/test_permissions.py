"""Who sees what: every page with every role, as a stranger, and signed out. Read from the URLs."""

from collections.abc import Iterator
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from accounts import team
from accounts.models import Account, Invitation, User
from accounts.roles import PERMISSIONS, Role, TeamPermission
from apikeys.models import ApiKey
from apikeys.services import create_key
from credits.models import Pack
from credits.orders.lifecycle import Buyer, start_order
from runtime.dates import to_microseconds
from tests.conftest import make_member, make_user, signed_in
from validation.models import LogEntry

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

OURS = ("accounts", "apikeys", "credits", "validation")
# Pages without a role: open to everybody, or to who is signed in but in no account.
PUBLIC = {
    "validation:show-landing",
    "accounts:show-closed",
    "accounts:show-terms",
    "accounts:show-privacy",
    "accounts:show-data-processing",
    "accounts:accept-invitation",
    "credits:receive-stripe-event",
}
WITHOUT_ACCOUNT = {
    "accounts:agree-to-terms",
    "accounts:open-account",
    "accounts:edit-profile",
    "accounts:show-security",
}
# Pages of one object that take no form.
READ_ONLY = {
    "apikeys:show-created",
    "credits:show-order",
    "credits:show-invoice",
    "validation:show-arrival",
    "validation:show-request",
}
# Pages of what is sold to everybody.
OF_THE_CATALOGUE = {"credits:order-pack", "credits:order-plan", "credits:choose-later-plan"}
# A signature stands for the form's token: tests/credits/payments/test_stripe.py.
SIGNED = {"credits:receive-stripe-event"}
FILLED_IN = {"role": "viewer", "email": "new@shop.example", "name": "A name"}


def our_pages() -> Iterator[tuple[str, URLPattern]]:
    stack: list[tuple[str | None, URLResolver | URLPattern]] = [(None, get_resolver())]
    while stack:
        app, pattern = stack.pop()
        if isinstance(pattern, URLResolver):
            stack += [(pattern.app_name or app, below) for below in pattern.url_patterns]
        elif app in OURS:
            yield f"{app}:{pattern.name}", pattern


def act_of(view: Any) -> TeamPermission | None:
    """The decorators of a view are peeled off until the one that names its act."""
    while view is not None and not hasattr(view, "act"):
        view = getattr(view, "__wrapped__", None)
    return TeamPermission(view.act) if view else None


PAGES = dict(our_pages())
ACTS = {name: act for name, page in PAGES.items() if (act := act_of(page.callback))}


def address(name: str, user: User, account: Account) -> str:
    ids = {
        "membership_id": user.memberships.get(account=account).public_id,
        "invitation_id": Invitation.objects.get(account=account).public_id,
        "key_id": ApiKey.objects.get(account=account).public_id,
        "order_id": account.orders.get().public_id,
        "pack_id": Pack.objects.earliest("credits").public_id,
        "plan_code": "starter",
        "request_id": "req_00000000000000000000",
        "moment": to_microseconds(LogEntry.objects.get(account=account).at),
    }
    wanted = PAGES[name].pattern.converters
    return reverse(name, kwargs={parameter: ids[parameter] for parameter in wanted})


def visit(client: Client, name: str, path: str) -> Any:
    """As a browser would: what takes the form of another page is sent that form."""
    if hasattr(PAGES[name].callback, "page"):
        return client.post(path, FILLED_IN)
    return client.get(path)


@pytest.fixture
def invitation(account: Account, owner: User) -> Invitation:
    """What the account has, for the addresses that name it."""
    create_key(account=account, name="The Shop's key", actor=owner)
    pack, buyer = Pack.objects.earliest("credits"), Buyer("The Shop Ltd")
    start_order(account=account, item=pack, buyer=buyer, actor=owner)
    LogEntry.objects.create(
        account=account,
        request_id="req_00000000000000000000",
        status=200,
        duration_ms=1,
        address="m***@shop.example",
    )
    email = "invited@shop.example"
    return team.invite_member(account=account, email=email, role=Role.VIEWER, actor=owner)


def test_every_page_says_which_act_it_is_or_is_named_as_open() -> None:
    assert PAGES.keys() - ACTS.keys() == PUBLIC | WITHOUT_ACCOUNT


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("name", ACTS)
def test_each_role_gets_what_the_table_says(
    name: str, role: Role, account: Account, invitation: Invitation
) -> None:
    user = make_member(account, role)
    answer = visit(signed_in(user), name, address(name, user, account))
    assert (answer.status_code == 403) is (role not in PERMISSIONS[ACTS[name]])


@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_stranger_finds_nothing_of_the_account(
    name: str, method: str, owner: User, account: Account, invitation: Invitation, stranger: User
) -> None:
    path = address(name, owner, account)
    answer = getattr(signed_in(stranger), method)(path, FILLED_IN)
    led_to_the_page = method == "get" and hasattr(PAGES[name].callback, "page")
    of_the_account = PAGES[name].pattern.converters and name not in OF_THE_CATALOGUE
    if of_the_account and not led_to_the_page:
        only_looks = method == "post" and name in READ_ONLY
        assert answer.status_code == (405 if only_looks else 404)
    page = answer.getvalue().decode()
    for secret in ("The Shop", owner.email, invitation.email, account.public_id, "m***@"):
        assert secret not in page
    account.refresh_from_db()
    assert (account.name, account.closed_at) == ("The Shop", None)


@pytest.mark.parametrize("name", sorted(ACTS.keys() | WITHOUT_ACCOUNT))
def test_who_is_not_signed_in_is_sent_to_the_sign_in(
    name: str, owner: User, account: Account, invitation: Invitation
) -> None:
    answer = visit(Client(), name, address(name, owner, account))
    assert answer.headers["Location"].startswith("/accounts/login/?next=")


@pytest.mark.parametrize("name", sorted(PAGES.keys() - SIGNED))
def test_a_form_without_its_token_changes_nothing(
    name: str, owner: User, account: Account, invitation: Invitation
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    if "token" in PAGES[name].pattern.converters:
        return
    answer = client.post(address(name, owner, account), FILLED_IN)
    assert answer.status_code in {403, 405}
    account.refresh_from_db()
    assert (account.name, account.closed_at) == ("The Shop", None)


@pytest.mark.parametrize("name", [n for n in PAGES if hasattr(PAGES[n].callback, "page")])
def test_who_opens_the_address_of_a_form_is_led_to_its_page(
    name: str, owner: User, account: Account, invitation: Invitation
) -> None:
    answer = signed_in(owner).get(address(name, owner, account), follow=True)
    assert answer.status_code == 200
    assert answer.redirect_chain[0][0] == reverse(getattr(PAGES[name].callback, "page"))  # noqa: B009


@pytest.mark.parametrize("name", sorted(WITHOUT_ACCOUNT))
def test_who_belongs_to_no_account_still_has_their_own_pages(name: str, db: None) -> None:
    answer = signed_in(make_user("nobody@team.example")).get(reverse(name), follow=True)
    assert answer.status_code == 200


def test_an_id_of_another_form_is_no_page(owner: User) -> None:
    for odd in ("a%00b", "mem_short", "1", "mem_" + "x" * 21):
        path = f"/accounts/team/members/{odd}/remove/"
        assert signed_in(owner).get(path).status_code == 404


@pytest.mark.parametrize("view", ["mfa_edit_webauthn", "mfa_remove_webauthn"])
def test_a_passkey_of_another_is_not_found(view: str, owner: User, stranger: User) -> None:
    passkey = Authenticator.objects.create(user=owner, type=Authenticator.Type.WEBAUTHN, data={})
    answer = signed_in(stranger).get(reverse(view, kwargs={"pk": passkey.pk}))
    assert answer.status_code == 404


def test_the_page_that_refuses_names_who_may(account: Account) -> None:
    client = signed_in(make_member(account, Role.VIEWER))
    answer = client.get("/accounts/account/close/")
    assert b"for the role Owner: ask one of them" in answer.content
    assert b"req_" in answer.content
