"""Staff take no staff action on an account they are a member of, superusers included."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Account, AuditEntry, Membership, User
from accounts.roles import Role
from credits.models import Wallet
from tests.conftest import signed_in
from tests.site.actions import staff as staff_acts
from tests.site.actions.world import Act, World

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

# These are about a person; the account's audit log only shows them because that person is a member.
ABOUT_PEOPLE = {"user.changed_by_staff", "user.second_factor_removed_by_staff"}
ON_ACCOUNTS = [
    act for act in staff_acts.ACTS if act.is_of_account and act.action not in ABOUT_PEOPLE
]
REASON = "You are a member of this account"


@pytest.fixture
def world(account: Account, owner: User) -> World:
    return World(account, owner)


def join(account: Account, user: User, role: Role = Role.VIEWER) -> None:
    Membership.objects.create(account=account, user=user, role=role)


def state_of(account: Account) -> Any:
    columns = ("suspended_at", "closed_at", "name", "requests_per_minute_override")
    return (
        Account.objects.values_list(*columns).get(pk=account.pk),
        Wallet.objects.values_list("balance", "debt").get(account=account),
        list(account.orders.values_list("state", flat=True)),
        list(account.api_keys.values_list("revoked_at", flat=True)),
    )


@pytest.mark.parametrize("act", ON_ACCOUNTS, ids=str)
def test_a_member_cannot_take_a_staff_action_on_the_account(act: Act, world: World) -> None:
    join(world.account, world.staff)
    before: list[Any] = []
    send_to = world.send_to

    def note_state_and_send(client: Client, path: str, form: Any, **more: Any) -> Any:
        before.append(state_of(world.account))
        answer = send_to(client, path, form, follow=True, **more)
        assert REASON in answer.content.decode()
        return answer

    world.send_to = note_state_and_send  # type: ignore[method-assign]
    act.perform(world)
    assert state_of(world.account) == before[-1]
    assert not AuditEntry.objects.filter(pk__gt=world.before, action=act.action).exists()


@pytest.mark.parametrize("role", Role)
def test_every_role_counts_as_membership(
    account: Account, owner: User, staff: User, role: Role
) -> None:
    join(account, staff, role)
    form = {"form_token": "a" * 32, "amount": "5", "reason": "For me"}
    path = f"/admin/accounts/account/{account.pk}/grant/"
    answer = signed_in(staff).post(path, form, follow=True)
    assert REASON in answer.content.decode()
    assert Wallet.objects.get(account=account).balance == 100


def test_the_page_shows_the_reason_instead_of_the_buttons(world: World) -> None:
    pages = [
        f"/admin/accounts/account/{world.account.pk}/change/",
        f"/admin/credits/order/{world.order.pk}/change/",
    ]
    for page in pages:
        shown = world.boss.get(page).content.decode()
        assert REASON not in shown
        assert "/suspend/" in shown or "/mark-paid/" in shown
    join(world.account, world.staff)
    for page in pages:
        shown = world.boss.get(page).content.decode()
        assert REASON in shown
        for address in ("/grant/", "/suspend/", "/mark-paid/", 'name="_save"'):
            assert address not in shown


def test_an_action_on_a_selection_leaves_out_only_the_own_account(
    world: World, stranger: User
) -> None:
    join(world.account, world.staff)
    other = Account.objects.get(memberships__user=stranger)
    chosen = [str(world.account.pk), str(other.pk)]
    form = {"action": "suspend", "_selected_action": chosen}
    said = world.boss.post("/admin/accounts/account/", form, follow=True).content.decode()
    assert "Suspended: Elsewhere." in said
    assert REASON in said
    assert Account.objects.get(suspended_at=None) == world.account


def test_who_left_the_account_can_act_on_it_again(world: World) -> None:
    join(world.account, world.staff)
    world.staff.memberships.all().delete()
    path = f"/admin/accounts/account/{world.account.pk}/suspend/"
    world.boss.post(path, {"form_token": "a" * 32})
    world.account.refresh_from_db()
    assert world.account.suspended_at
