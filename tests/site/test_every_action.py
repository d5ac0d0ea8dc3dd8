"""Every page that accepts a form writes to the audit log, or is listed as one that changes nothing.

The pages are read from the URL configuration, and each action is performed with real requests. A
new page that is in neither list fails these tests.
"""

from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.contrib import admin
from django.test import RequestFactory
from django.urls import URLPattern, reverse
from django.views.generic import RedirectView

from accounts.audit.actions import LABELS
from accounts.models import Account, AuditEntry, Invitation, User
from apikeys.rest.view import ApiView
from tests.accounts.test_permissions import PAGES as DASHBOARD_PAGES
from tests.accounts.test_permissions import invitation, url_for
from tests.credits.payments.stripe_helpers import running, stripe
from tests.site.actions import customers, sign_in, staff
from tests.site.actions.scene import ADDRESS, ActionCase, Scene
from tests.support.pages import all_pages

__all__ = ["invitation", "running", "stripe"]

pytestmark = pytest.mark.django_db

CASES = [*customers.CASES, *sign_in.CASES, *staff.CASES]
UNAUDITED_PAGES = {**customers.UNAUDITED_PAGES, **sign_in.UNAUDITED_PAGES, **staff.UNAUDITED_PAGES}
# Without Stripe's keys these don't exist.
NEED_STRIPE = {
    *("credits:receive-stripe-event", "credits:save-card", "credits:remove-card"),
    *("credits:edit-automatic-top-up", "credits:switch-off-automatic-top-up"),
}
ADMIN_VIEWS = ("changelist", "add", "change", "delete", "history")

PAGES = {page.name: page.pattern for page in all_pages().values()}


@pytest.fixture
def scene(account: Account, owner: User) -> Scene:
    return Scene(account, owner)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_action_is_recorded_in_the_audit_log(
    case: ActionCase, scene: Scene, request: pytest.FixtureRequest
) -> None:
    if case.page in NEED_STRIPE:
        scene.stripe = request.getfixturevalue("stripe")
    case.perform(scene)
    entries = scene.new_entries(case.action)
    assert entries, [
        entry.action for entry in AuditEntry.objects.filter(pk__gt=scene.last_entry_id)
    ]
    for entry in entries:
        assert entry.action in LABELS
        assert entry.ip == (None if case.page == "credits:receive-stripe-event" else ADDRESS)
        _assert_actor(entry, case, scene)
    if case.is_of_account and case.actor != "new user" and case.page != "accounts:open-account":
        assert {entry.account for entry in entries} == {scene.account}


def _assert_actor(entry: AuditEntry, case: ActionCase, scene: Scene) -> None:
    actors = {"owner": scene.owner, "staff": scene.staff, "anonymous": None}
    if case.actor == "new user":
        assert entry.actor not in actors.values()
    else:
        assert entry.actor == actors[case.actor]
    assert entry.by_staff == (case.actor == "staff" and entry.account is not None)


def test_unlisted_page_accepts_no_form(scene: Scene, invitation: Invitation) -> None:
    """The `invitation` fixture creates the rows that the pages' paths refer to."""
    RecoveryCodes.activate(scene.owner)
    statuses = {name: _post_to(name, scene) for name in _unlisted_pages()}
    assert {name: status for name, status in statuses.items() if status != 405} == {}


def _unlisted_pages() -> list[str]:
    listed = {case.page for case in CASES} | UNAUDITED_PAGES.keys() | {*_admin_pages()}
    return [name for name, page in PAGES.items() if name not in listed and not _is_exempt(page)]


def _is_exempt(page: URLPattern) -> bool:
    """API calls are in the request log instead, and redirects accept no form."""
    view = getattr(page.callback, "cls", getattr(page.callback, "view_class", object))
    return issubclass(view, ApiView | RedirectView)


def _post_to(name: str, scene: Scene) -> int:
    page = PAGES[name]
    if name in DASHBOARD_PAGES:
        path = url_for(name, scene.owner, scene.account)
    else:
        account_id = scene.account.public_id
        ids = {"admin:show-account": [account_id], "admin:credits_order_invoice": ["1"]}
        path = reverse(name if page.name else page.callback, args=ids.get(name))
    client = scene.staff_browser if name.startswith("admin:") else scene.browser
    status: int = client.post(path).status_code
    return status


def _admin_pages() -> dict[str, tuple[Any, str]]:
    return {
        f"admin:{model._meta.app_label}_{model._meta.model_name}_{view}": (model_admin, view)
        for model, model_admin in admin.site._registry.items()
        for view in ADMIN_VIEWS
    }


def test_every_staff_action_on_rows_is_listed(staff: User) -> None:
    request: Any = RequestFactory().get("/")
    request.user = staff
    listed = {(case.page, case.button) for case in CASES if case.page in _admin_pages()}
    possible = set()
    for name, (model_admin, view) in _admin_pages().items():
        assert not model_admin.list_editable
        # Django checks this permission before it accepts a form.
        if view in {"add", "change", "delete"} and getattr(model_admin, f"has_{view}_permission")(
            request
        ):
            possible.add((name, ""))
        if view == "changelist":
            possible |= {(name, button) for button in model_admin.get_actions(request)}
    assert possible == listed


def test_unaudited_pages_exist_and_have_a_reason() -> None:
    assert UNAUDITED_PAGES.keys() <= PAGES.keys()
    assert all(UNAUDITED_PAGES.values())
    assert not UNAUDITED_PAGES.keys() & {case.page for case in CASES}
