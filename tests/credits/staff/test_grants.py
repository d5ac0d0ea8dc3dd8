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
from credits.models import GrantState, LedgerEntry, StaffGrant
from credits.staff import grants
from credits.wallet.books import find_discrepancies
from runtime.http.refusals import Refused
from tests.accounts.staff.staff_pages import client_in_group, count_work, front_page, panel_text
from tests.conftest import make_user, signed_in
from tests.credits.customers import balance
from tests.support.fresh_database import run_concurrently
from tests.support.staff_forms import post_confirmed

LIMIT = 1_000


@pytest.fixture(autouse=True)
def limit(settings: Settings) -> None:
    settings.STAFF_GRANT_LIMIT = LIMIT


def make_finance_user(name: str) -> User:
    user = make_user(f"{name}@service.example", is_staff=True)
    user.groups.add(Group.objects.get(name="Finance"))
    return user


@pytest.fixture
def requester(db: None) -> User:
    return make_finance_user("requester")


@pytest.fixture
def second(db: None) -> User:
    return make_finance_user("second")


def request(account: Account, actor: User, amount: int, token: str = "") -> StaffGrant:
    token = token or f"{StaffGrant.objects.count():032}"
    grant = grants.request_grant(
        account=account, amount=amount, reason="Sorry", actor=actor, form_token=token
    )
    assert grant is not None
    return grant


def submit(client: Client, grant: StaffGrant, slug: str) -> str:
    path = f"/admin/credits/staffgrant/{grant.pk}/{slug}/"
    response = client.post(path, {"form_token": "b" * 32}, follow=True)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def submit_grant(client: Client, account: Account, amount: int) -> str:
    form = {"form_token": "a" * 32, "amount": str(amount), "reason": "Sorry"}
    path = f"/admin/accounts/account/{account.pk}/grant/"
    return " ".join(post_confirmed(client, path, form, follow=True).content.decode().split())


def test_grant_within_the_limit_takes_effect_immediately(account: Account, requester: User) -> None:
    page = submit_grant(signed_in(requester), account, LIMIT)
    assert "Granted 1,000 credits. The balance is 1,100." in page
    assert StaffGrant.objects.get().state == GrantState.WITHIN_LIMIT


@pytest.mark.anywhere
def test_grant_above_the_limit_waits_until_another_person_confirms_it(
    account: Account, requester: User, second: User
) -> None:
    page = submit_grant(signed_in(requester), account, LIMIT + 1)
    assert "Requested 1,001 credits." in page
    assert balance(account) == 100
    assert not account.audit_entries.filter(action="credits.granted").exists()
    grant = StaffGrant.objects.get()
    page = submit(signed_in(second), grant, "confirm")
    assert "Granted 1,001 credits. The balance is 1,101." in page
    grant.refresh_from_db()
    assert (grant.state, grant.requested_by, grant.decided_by) == ("confirmed", requester, second)
    entry = account.ledger.get(kind="grant")
    assert (entry.amount, entry.actor, entry.reason) == (1_001, second.email, "Sorry")
    assert not list(find_discrepancies())


@pytest.mark.anywhere
def test_requester_can_only_withdraw(account: Account, requester: User) -> None:
    grant, client = request(account, requester, LIMIT + 1), signed_in(requester)
    for slug in ("confirm", "reject"):
        assert "another staff member has to confirm or reject it" in submit(client, grant, slug)
    page = client.get(f"/admin/credits/staffgrant/{grant.pk}/change/").content.decode()
    assert "/withdraw/" in page
    assert "/confirm/" not in page
    assert "another staff member has to confirm or reject it" in page
    assert "Withdrew 1,001 credits for The Shop. Nothing was granted." in submit(
        client, grant, "withdraw"
    )
    assert balance(account) == 100


def test_superuser_needs_a_second_person_too(account: Account) -> None:
    superuser = make_user("superuser@service.example", is_staff=True, is_superuser=True)
    assert superuser.has_perm("credits.grant_credits")
    grant = request(account, superuser, LIMIT + 1)
    with pytest.raises(Refused):
        grants.decide(grant=grant, state=GrantState.CONFIRMED, actor=superuser)
    assert balance(account) == 100


@pytest.mark.anywhere
def test_second_person_rejects_or_confirms_and_does_not_withdraw(
    account: Account, requester: User, second: User
) -> None:
    grant, client = request(account, requester, LIMIT + 1), signed_in(second)
    page = client.get(f"/admin/credits/staffgrant/{grant.pk}/change/").content.decode()
    assert all(slug in page for slug in ("/confirm/", "/reject/"))
    assert "/withdraw/" not in page
    assert "Only the person who requested" in submit(client, grant, "withdraw")
    assert "Rejected 1,001 credits for The Shop." in submit(client, grant, "reject")
    assert "isn&#x27;t possible" in submit(client, grant, "confirm")
    with pytest.raises(Refused, match="already been decided"):
        grants.decide(grant=grant, state=GrantState.CONFIRMED, actor=second)
    assert balance(account) == 100


@pytest.mark.anywhere
def test_member_of_the_account_or_staff_who_cannot_grant_cannot_confirm_or_reject(
    account: Account, requester: User, second: User
) -> None:
    grant = request(account, requester, LIMIT + 1)
    Membership.objects.create(account=account, user=second, role=Role.VIEWER)
    for slug in ("confirm", "reject"):
        assert "You are a member of this account" in submit(signed_in(second), grant, slug)
    client = client_in_group("Support")
    assert client.get(f"/admin/credits/staffgrant/{grant.pk}/change/").status_code == 200
    for slug in ("confirm", "reject", "withdraw"):
        assert client.post(f"/admin/credits/staffgrant/{grant.pk}/{slug}/").status_code == 403
    grant.refresh_from_db()
    assert grant.is_pending


def test_many_small_grants_over_all_accounts_count_as_one_large_grant(
    account: Account, stranger: User, requester: User, second: User
) -> None:
    other = Account.objects.get(memberships__user=stranger)
    assert not request(account, requester, 600).is_pending
    assert not request(other, requester, 400).is_pending
    assert request(other, requester, 1).is_pending
    assert not request(other, second, LIMIT).is_pending
    with time_machine.travel(timezone.now() + timedelta(hours=24, seconds=1), tick=False):
        assert not request(account, requester, LIMIT).is_pending


def test_confirmed_grant_does_not_count_toward_the_limit_and_a_changed_address_does_not_reset_it(
    account: Account, requester: User, second: User
) -> None:
    grants.decide(
        grant=request(account, requester, LIMIT + 1), state=GrantState.CONFIRMED, actor=second
    )
    assert not request(account, requester, LIMIT).is_pending
    assert not request(account, second, LIMIT).is_pending
    requester.email = "renamed@service.example"
    requester.save()
    assert request(account, requester, 1).is_pending


@pytest.mark.anywhere
def test_grant_form_submitted_again_is_requested_once(account: Account, requester: User) -> None:
    client = signed_in(requester)
    submit_grant(client, account, LIMIT + 1)
    for amount in (LIMIT + 1, 5):
        assert "This form was already submitted" in submit_grant(client, account, amount)
    assert StaffGrant.objects.count() == 1
    assert balance(account) == 100


def test_each_step_is_in_the_audit_log_and_the_customer_sees_only_the_grant(
    account: Account, requester: User, second: User
) -> None:
    before = set(account.audit_entries.values_list("pk", flat=True))
    first, other = (request(account, requester, LIMIT + 1) for _ in range(2))
    grants.decide(grant=first, state=GrantState.CONFIRMED, actor=second)
    grants.decide(grant=other, state=GrantState.REJECTED, actor=second)
    steps = AuditEntry.objects.filter(action__startswith="grant.").order_by("pk")
    assert [(step.action, step.actor, step.account) for step in steps] == [
        ("grant.requested", requester, None),
        ("grant.requested", requester, None),
        ("grant.confirmed", second, None),
        ("grant.rejected", second, None),
    ]
    assert {step.target for step in steps} == {f"{account.public_id}, 1,001: Sorry"}
    seen = account.audit_entries.exclude(pk__in=before)
    assert [(entry.action, entry.who) for entry in seen] == [
        ("credits.granted", "Our support team")
    ]


def test_database_refuses_an_invalid_grant(account: Account, requester: User) -> None:
    grant, now = request(account, requester, LIMIT + 1), timezone.now()
    own = {"decided_by": requester, "decided_at": now}
    changes: list[dict[str, Any]] = [
        *({"amount": 0}, {"state": "granted"}, {"state": "confirmed"}),
        *({"state": "confirmed", **own}, {"state": "rejected", **own}),
        {"state": "pending", "decided_at": now},
    ]
    for change in changes:
        with pytest.raises(IntegrityError), transaction.atomic():
            StaffGrant.objects.filter(pk=grant.pk).update(**change)


@pytest.mark.anywhere
def test_front_page_lists_pending_grants_oldest_first(
    account: Account, requester: User, second: User
) -> None:
    client = signed_in(second)
    assert count_work(front_page(client), "Grants to confirm") == "0"
    decided, _, _ = (request(account, requester, LIMIT + n) for n in (1, 2, 3))
    grants.decide(grant=decided, state=GrantState.REJECTED, actor=second)
    panel = panel_text(front_page(client), "Grants to confirm")
    assert panel.index("1,002") < panel.index("1,003")
    assert "1,001" not in panel
    assert requester.email in panel


def test_request_by_an_erased_user_can_only_be_rejected(account: Account, second: User) -> None:
    requester = make_user("requester@service.example", is_staff=True)
    own = open_account(user=requester)
    grant = request(account, requester, LIMIT + 1)
    User.objects.filter(pk=requester.pk).update(is_staff=False)
    with time_machine.travel(timezone.now() - timedelta(days=31), tick=False):
        close_account(account=own, actor=requester)
    erase_account(account=own)
    grant.refresh_from_db()
    assert grant.requested_by is None
    with pytest.raises(Refused, match="no longer exists"):
        grants.decide(grant=grant, state=GrantState.CONFIRMED, actor=second)
    grants.decide(grant=grant, state=GrantState.REJECTED, actor=second)
    assert balance(account) == 100


@pytest.mark.usefixtures("fresh_database")
def test_concurrent_confirmations_grant_once() -> None:
    account = open_account(user=make_user("owner@shop.example"), name="The Shop")
    requester, *others = (make_finance_user(f"finance-{n}") for n in range(9))
    grant = request(account, requester, LIMIT + 1)

    def confirm(number: int) -> Any:
        waiting = StaffGrant.objects.get(pk=grant.pk)
        return grants.decide(grant=waiting, state=GrantState.CONFIRMED, actor=others[number])

    results = Counter(type(result) for result in run_concurrently(8, confirm))
    assert results == {type(None): 1, Refused: 7}
    assert balance(account) == LIMIT + 1
    assert LedgerEntry.objects.count() == 1
    assert not list(find_discrepancies())


@pytest.mark.usefixtures("fresh_database")
def test_concurrent_grants_by_one_person_stay_within_the_limit() -> None:
    account = open_account(user=make_user("owner@shop.example"), name="The Shop")
    requester = make_finance_user("requester")
    states = Counter(
        grant.state
        for grant in run_concurrently(8, lambda n: request(account, requester, 300, f"{n:032}"))
    )
    assert states == {GrantState.WITHIN_LIMIT: 3, GrantState.PENDING: 5}
    assert balance(account) == 900
