"""Large grants by staff need a second person, and many small ones count as one large one."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, AuditEntry, Membership, User
from accounts.retention import erase_account
from accounts.roles import Role
from accounts.services import close_account, open_account
from credits.models import LedgerEntry, StaffGrant, Wallet
from credits.staff import grants
from credits.wallet.books import differences
from tests.conftest import make_user, signed_in
from tests.support.fresh_database import at_once

LIMIT = 1_000
State = StaffGrant.State


@pytest.fixture(autouse=True)
def limit(settings: Settings) -> None:
    settings.STAFF_GRANT_LIMIT = LIMIT


def clerk(name: str) -> User:
    user = make_user(f"{name}@service.example", is_staff=True)
    user.groups.add(Group.objects.get(name="Finance"))
    return user


@pytest.fixture
def asker(db: None) -> User:
    return clerk("asker")


@pytest.fixture
def second(db: None) -> User:
    return clerk("second")


def request(account: Account, actor: User, amount: int, token: str = "") -> StaffGrant:
    token = token or f"{StaffGrant.objects.count():032}"
    grant = grants.request_grant(
        account=account, amount=amount, reason="Sorry", actor=actor, form_token=token, ip="::1"
    )
    assert grant is not None
    return grant


def balance(account: Account) -> int:
    return Wallet.objects.get(account=account).balance


def press(client: Client, grant: StaffGrant, button: str) -> str:
    path = f"/admin/credits/staffgrant/{grant.pk}/{button}/"
    answer = client.post(path, {"form_token": "b" * 32}, follow=True)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def give(client: Client, account: Account, amount: int) -> str:
    form = {"form_token": "a" * 32, "amount": str(amount), "reason": "Sorry"}
    path = f"/admin/accounts/account/{account.pk}/grant/"
    return " ".join(client.post(path, form, follow=True).content.decode().split())


@pytest.mark.django_db
def test_a_grant_within_the_limit_takes_effect_immediately(account: Account, asker: User) -> None:
    said = give(signed_in(asker), account, LIMIT)
    assert "Granted 1,000 credits. The balance is 1,100." in said
    assert StaffGrant.objects.get().state == State.WITHIN_LIMIT


@pytest.mark.django_db
def test_a_grant_above_the_limit_waits_until_another_person_confirms_it(
    account: Account, asker: User, second: User
) -> None:
    said = give(signed_in(asker), account, LIMIT + 1)
    assert "Waiting for a second person: 1,001 credits." in said
    assert balance(account) == 100
    assert not account.audit_entries.filter(action="credits.granted").exists()
    grant = StaffGrant.objects.get()
    said = press(signed_in(second), grant, "confirm")
    assert "Granted 1,001 credits. The balance is 1,101." in said
    grant.refresh_from_db()
    assert (grant.state, grant.requested_by, grant.decided_by) == ("confirmed", asker, second)
    entry = account.ledger.get(kind="grant")
    assert (entry.amount, entry.actor, entry.reason) == (1_001, second.email, "Sorry")
    assert not list(differences())


@pytest.mark.django_db
def test_the_person_who_asked_can_only_withdraw(account: Account, asker: User) -> None:
    grant, client = request(account, asker, LIMIT + 1), signed_in(asker)
    for button in ("confirm", "reject"):
        assert "another staff member has to confirm or reject it" in press(client, grant, button)
    page = client.get(f"/admin/credits/staffgrant/{grant.pk}/change/").content.decode()
    assert "/withdraw/" in page
    assert "/confirm/" not in page
    assert "another staff member has to confirm or reject it" in page
    assert "Withdrawn: 1,001 credits for The Shop. Nothing was granted." in press(
        client, grant, "withdraw"
    )
    assert balance(account) == 100


@pytest.mark.django_db
def test_a_superuser_needs_a_second_person_too(account: Account) -> None:
    boss = make_user("boss@service.example", is_staff=True, is_superuser=True)
    assert boss.has_perm("credits.grant_credits")
    grant = request(account, boss, LIMIT + 1)
    with pytest.raises(grants.GrantRefused):
        grants.confirm_grant(grant=grant, actor=boss)
    assert balance(account) == 100


@pytest.mark.django_db
def test_a_second_person_rejects_or_confirms_and_does_not_withdraw(
    account: Account, asker: User, second: User
) -> None:
    grant, client = request(account, asker, LIMIT + 1), signed_in(second)
    page = client.get(f"/admin/credits/staffgrant/{grant.pk}/change/").content.decode()
    assert all(button in page for button in ("/confirm/", "/reject/"))
    assert "/withdraw/" not in page
    assert "Only the person who asked" in press(client, grant, "withdraw")
    assert "Rejected: 1,001 credits for The Shop." in press(client, grant, "reject")
    assert "is not possible" in press(client, grant, "confirm")
    with pytest.raises(grants.GrantRefused, match="decided before"):
        grants.confirm_grant(grant=grant, actor=second)
    assert balance(account) == 100


@pytest.mark.django_db
def test_a_member_of_the_account_is_no_second_person(
    account: Account, asker: User, second: User
) -> None:
    grant = request(account, asker, LIMIT + 1)
    Membership.objects.create(account=account, user=second, role=Role.VIEWER)
    for button in ("confirm", "reject"):
        assert "You are a member of this account" in press(signed_in(second), grant, button)
    grant.refresh_from_db()
    assert grant.is_pending


@pytest.mark.django_db
def test_who_may_not_grant_may_not_confirm(account: Account, asker: User) -> None:
    support = make_user("support@service.example", is_staff=True)
    support.groups.add(Group.objects.get(name="Support"))
    grant, client = request(account, asker, LIMIT + 1), signed_in(support)
    assert client.get(f"/admin/credits/staffgrant/{grant.pk}/change/").status_code == 200
    for button in ("confirm", "reject", "withdraw"):
        assert client.post(f"/admin/credits/staffgrant/{grant.pk}/{button}/").status_code == 403


@pytest.mark.django_db
def test_many_small_grants_count_as_one_large_one_over_all_accounts(
    account: Account, stranger: User, asker: User, second: User
) -> None:
    other = Account.objects.get(memberships__user=stranger)
    assert not request(account, asker, 600).is_pending
    assert not request(other, asker, 400).is_pending
    assert request(other, asker, 1).is_pending
    assert not request(other, second, LIMIT).is_pending
    with time_machine.travel(timezone.now() + timedelta(hours=24, seconds=1), tick=False):
        assert not request(account, asker, LIMIT).is_pending


@pytest.mark.django_db
def test_what_a_second_person_confirmed_does_not_count_towards_the_limit(
    account: Account, asker: User, second: User
) -> None:
    grants.confirm_grant(grant=request(account, asker, LIMIT + 1), actor=second)
    assert not request(account, asker, LIMIT).is_pending
    assert not request(account, second, LIMIT).is_pending


@pytest.mark.django_db
def test_a_changed_email_address_does_not_reset_the_limit(account: Account, asker: User) -> None:
    request(account, asker, LIMIT)
    asker.email = "renamed@service.example"
    asker.save()
    assert request(account, asker, 1).is_pending


@pytest.mark.django_db
def test_a_form_that_is_sent_again_asks_once(account: Account, asker: User) -> None:
    client = signed_in(asker)
    give(client, account, LIMIT + 1)
    for amount in (LIMIT + 1, 5):
        assert "This form was sent before" in give(client, account, amount)
    assert StaffGrant.objects.count() == 1
    assert balance(account) == 100


@pytest.mark.django_db
def test_each_step_is_in_the_audit_log_and_the_customer_sees_only_the_grant(
    account: Account, asker: User, second: User
) -> None:
    before = set(account.audit_entries.values_list("pk", flat=True))
    first, other = (request(account, asker, LIMIT + 1) for _ in range(2))
    grants.confirm_grant(grant=first, actor=second, ip="::1")
    grants.reject_grant(grant=other, actor=second, ip="::1")
    steps = AuditEntry.objects.filter(action__startswith="grant.").order_by("pk")
    assert [(step.action, step.actor, step.account, step.ip) for step in steps] == [
        ("grant.requested", asker, None, "::1"),
        ("grant.requested", asker, None, "::1"),
        ("grant.confirmed", second, None, "::1"),
        ("grant.rejected", second, None, "::1"),
    ]
    assert {step.target for step in steps} == {f"{account.public_id}, 1,001: Sorry"}
    seen = account.audit_entries.exclude(pk__in=before)
    assert [(entry.action, entry.who) for entry in seen] == [("credits.granted", "Our support")]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        {"amount": 0},
        {"state": "confirmed", "decided_by": "asker", "decided_at": timezone.now()},
        {"state": "rejected", "decided_by": "asker", "decided_at": timezone.now()},
        {"state": "confirmed"},
        {"state": "pending", "decided_at": timezone.now()},
        {"state": "granted"},
    ],
)
def test_the_database_refuses_a_grant_that_cannot_be(
    account: Account, asker: User, change: dict[str, Any]
) -> None:
    grant = request(account, asker, LIMIT + 1)
    if "decided_by" in change:
        change = {**change, "decided_by": asker}
    with pytest.raises(IntegrityError), transaction.atomic():
        StaffGrant.objects.filter(pk=grant.pk).update(**change)


@pytest.mark.django_db
def test_the_front_page_lists_what_waits_with_the_oldest_first(
    account: Account, asker: User, second: User
) -> None:
    client = signed_in(second)
    assert "No grant is waiting." in client.get("/admin/").content.decode()
    decided, _, _ = (request(account, asker, LIMIT + n) for n in (1, 2, 3))
    grants.reject_grant(grant=decided, actor=second)
    page = client.get("/admin/").content.decode()
    _, _, panel = page.partition("Grants waiting for a second person")
    panel = panel.partition("</section>")[0]
    assert panel.index("1,002") < panel.index("1,003")
    assert "1,001" not in panel
    assert asker.email in panel


@pytest.mark.django_db
def test_a_request_by_an_erased_user_can_only_be_rejected(account: Account, second: User) -> None:
    asker = make_user("asker@service.example", is_staff=True)
    own = open_account(user=asker)
    grant = request(account, asker, LIMIT + 1)
    User.objects.filter(pk=asker.pk).update(is_staff=False)
    with time_machine.travel(timezone.now() - timedelta(days=31), tick=False):
        close_account(account=own, actor=asker)
    erase_account(account=own)
    grant.refresh_from_db()
    assert grant.requested_by is None
    with pytest.raises(grants.GrantRefused, match="no longer exists"):
        grants.confirm_grant(grant=grant, actor=second)
    grants.reject_grant(grant=grant, actor=second)
    assert balance(account) == 100


@pytest.mark.usefixtures("fresh_database")
def test_two_confirmations_at_the_same_time_grant_once() -> None:
    account = open_account(user=make_user("owner@shop.example"), name="The Shop")
    asker, *others = (clerk(f"clerk-{n}") for n in range(9))
    grant = request(account, asker, LIMIT + 1)

    def confirm(number: int) -> Any:
        waiting = StaffGrant.objects.get(pk=grant.pk)
        return grants.confirm_grant(grant=waiting, actor=others[number])

    results = Counter(type(result) for result in at_once(8, confirm))
    assert results == {type(None): 1, grants.GrantRefused: 7}
    assert balance(account) == LIMIT + 1
    assert LedgerEntry.objects.count() == 1
    assert not list(differences())


@pytest.mark.usefixtures("fresh_database")
def test_grants_by_one_person_at_the_same_time_stay_within_the_limit() -> None:
    account = open_account(user=make_user("owner@shop.example"), name="The Shop")
    asker = clerk("asker")
    states = Counter(
        grant.state for grant in at_once(8, lambda n: request(account, asker, 300, f"{n:032}"))
    )
    assert states == {State.WITHIN_LIMIT: 3, State.PENDING: 5}
    assert balance(account) == 900
