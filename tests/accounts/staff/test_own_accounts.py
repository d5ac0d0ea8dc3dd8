"""Staff take no staff action on an account they are a member of, superusers included."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Account, AuditEntry, Membership, User
from accounts.roles import Role
from accounts.services import suspend_account
from credits.models import Wallet
from tests.site.actions import staff as staff_actions
from tests.site.actions.scene import ActionCase, Scene

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

# These change a user. The audit log of an account shows them because the user is a member.
ABOUT_PEOPLE = {"user.changed_by_staff", "user.second_factor_removed_by_staff"}
ON_ACCOUNTS = [
    case for case in staff_actions.CASES if case.is_of_account and case.action not in ABOUT_PEOPLE
]
REFUSAL = "You are a member of this account"


@pytest.fixture
def scene(account: Account, owner: User) -> Scene:
    return Scene(account, owner)


def join(account: Account, user: User) -> None:
    Membership.objects.create(account=account, user=user, role=Role.VIEWER)


def get_state(account: Account) -> Any:
    columns = ("suspended_at", "closed_at", "name", "requests_per_minute_override")
    return (
        Account.objects.values_list(*columns).get(pk=account.pk),
        Wallet.objects.values_list("balance", "held", "debt").get(account=account),
        list(account.orders.values_list("state", flat=True)),
        list(account.api_keys.values_list("revoked_at", flat=True)),
    )


@pytest.mark.parametrize("case", ON_ACCOUNTS, ids=str)
def test_member_cannot_take_a_staff_action_on_the_account(case: ActionCase, scene: Scene) -> None:
    join(scene.account, scene.staff)
    before: list[Any] = []
    send_to = scene.send_to

    def record_state_and_send(client: Client, path: str, form: Any, **kwargs: Any) -> Any:
        before.append(get_state(scene.account))
        response = send_to(client, path, form, follow=True, **kwargs)
        assert REFUSAL in response.content.decode()
        return response

    scene.send_to = record_state_and_send  # type: ignore[method-assign]
    case.perform(scene)
    assert get_state(scene.account) == before[-1]
    assert not AuditEntry.objects.filter(pk__gt=scene.last_entry_id, action=case.action).exists()


def test_page_shows_the_reason_instead_of_the_buttons(scene: Scene) -> None:
    pages = [
        f"/admin/accounts/account/{scene.account.pk}/change/",
        f"/admin/credits/order/{scene.order.pk}/change/",
    ]
    for page in pages:
        content = scene.staff_browser.get(page).content.decode()
        assert REFUSAL not in content
        assert "/suspend/" in content or "/mark-paid/" in content
    join(scene.account, scene.staff)
    for page in pages:
        content = scene.staff_browser.get(page).content.decode()
        assert REFUSAL in content
        for fragment in ("/grant/", "/suspend/", "/mark-paid/", 'name="_save"'):
            assert fragment not in content


def test_bulk_action_skips_only_the_own_account(scene: Scene, stranger: User) -> None:
    join(scene.account, scene.staff)
    other = Account.objects.get(memberships__user=stranger)
    selected = [str(scene.account.pk), str(other.pk)]
    for account in (scene.account, other):
        suspend_account(account=account, actor=stranger)
    form = {"action": "lift_suspension", "_selected_action": selected}
    page = scene.staff_browser.post("/admin/accounts/account/", form, follow=True).content.decode()
    assert "Suspension lifted: Elsewhere." in page
    assert REFUSAL in page
    assert Account.objects.exclude(suspended_at=None).get() == scene.account
