"""Every page that takes a form leaves its entry in the audit log, or is named as one that changes
nothing. The pages are read from the URLs, and each act is done as people do it: a new page that is
in neither list fails here."""

from collections.abc import Iterator
from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.contrib import admin
from django.test import RequestFactory
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.views.generic import RedirectView

from accounts.audit.actions import ACTIONS
from accounts.models import Account, AuditEntry, Invitation, User
from apikeys.rest.view import ApiView
from tests.accounts.test_permissions import PAGES as OUR_PAGES
from tests.accounts.test_permissions import address, invitation
from tests.conftest import signed_in
from tests.credits.payments.cards import running, stripe
from tests.site.actions import customers, sign_in, staff
from tests.site.actions.world import Act, World

__all__ = ["invitation", "running", "stripe"]

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

ACTS = [*customers.ACTS, *sign_in.ACTS, *staff.ACTS]
NOTHING = {**customers.NOTHING, **sign_in.NOTHING, **staff.NOTHING}
ENDS = ("changelist", "add", "change", "delete", "history")


def named_pages() -> Iterator[tuple[str, URLPattern]]:
    stack: list[tuple[str, URLResolver | URLPattern]] = [("", get_resolver())]
    while stack:
        space, pattern = stack.pop()
        if isinstance(pattern, URLResolver):
            below = f"{pattern.namespace}:" if pattern.namespace else space
            stack += [(below, one) for one in pattern.url_patterns]
        else:
            yield f"{space}{pattern.name or pattern.lookup_str}", pattern


PAGES = dict(named_pages())


@pytest.fixture
def world(account: Account, owner: User) -> World:
    return World(account, owner)


@pytest.mark.parametrize("act", ACTS, ids=str)
def test_an_act_leaves_its_entry(act: Act, world: World, request: pytest.FixtureRequest) -> None:
    if act.page == "credits:receive-stripe-event":
        world.stripe = request.getfixturevalue("stripe")
    act.perform(world)
    entries = world.noted(act.action)
    assert entries, [entry.action for entry in AuditEntry.objects.filter(pk__gt=world.before)]
    for entry in entries:
        assert entry.action in ACTIONS
        assert entry.ip == "127.0.0.1" or act.page == "credits:receive-stripe-event"
        _assert_by(entry, act, world)
    if act.is_of_account and act.by != "newcomer" and act.page != "accounts:open-account":
        assert {entry.account for entry in entries} == {world.account}


def _assert_by(entry: AuditEntry, act: Act, world: World) -> None:
    known = {"owner": world.owner, "staff": world.staff, "nobody": None}
    if act.by == "newcomer":
        assert entry.actor not in known.values()
    else:
        assert entry.actor == known[act.by]
    assert entry.by_staff == (act.by == "staff" and entry.account is not None)


def test_a_page_that_is_in_neither_list_takes_no_form(world: World, invitation: Invitation) -> None:
    """`invitation` makes what the addresses of pages name."""
    RecoveryCodes.activate(world.owner)
    answers = {name: _answer_to_a_form(name, world) for name in _others()}
    assert {name: status for name, status in answers.items() if status != 405} == {}


def _others() -> list[str]:
    known = {act.page for act in ACTS} | NOTHING.keys() | {*_pages_of_models()}
    return [name for name, page in PAGES.items() if name not in known and not _is_no_page(page)]


def _is_no_page(page: URLPattern) -> bool:
    """What is done with a key stands in the request log; what leads elsewhere takes nothing."""
    view = getattr(page.callback, "cls", getattr(page.callback, "view_class", object))
    return issubclass(view, ApiView | RedirectView)


def _answer_to_a_form(name: str, world: World) -> int:
    page = PAGES[name]
    if name in OUR_PAGES:
        path = address(name, world.owner, world.account)
    else:
        ids = [world.account.public_id] if name == "admin:show-usage" else []
        path = reverse(name if page.name else page.callback, args=ids)
    client = world.boss if name.startswith("admin:") else world.browser
    status: int = client.post(path).status_code
    return status


def _pages_of_models() -> dict[str, tuple[Any, str]]:
    return {
        f"admin:{model._meta.app_label}_{model._meta.model_name}_{end}": (model_admin, end)
        for model, model_admin in admin.site._registry.items()
        for end in ENDS
    }


def test_what_staff_may_do_to_rows_is_known(staff: User) -> None:
    request: Any = RequestFactory().get("/")
    request.user = staff
    known = {(act.page, act.button) for act in ACTS if act.page in _pages_of_models()}
    possible = set()
    for name, (model_admin, end) in _pages_of_models().items():
        assert not model_admin.list_editable
        # Django asks this before it takes a form.
        if end in {"add", "change", "delete"} and getattr(model_admin, f"has_{end}_permission")(
            request
        ):
            possible.add((name, ""))
        if end == "changelist":
            possible |= {(name, button) for button in model_admin.get_actions(request)}
    assert possible == known


def test_staff_set_nobodys_password(owner: User, staff: User) -> None:
    answer = signed_in(staff).post(reverse("admin:auth_user_password_change", args=[owner.pk]))
    assert answer.status_code == 403


def test_every_reason_is_about_a_page_there_is() -> None:
    assert NOTHING.keys() <= PAGES.keys()
    assert all(NOTHING.values())
    assert not NOTHING.keys() & {act.page for act in ACTS}
