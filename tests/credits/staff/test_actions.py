"""Staff actions on credits, orders and prices: permissions, idempotency, and audit log."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Account, AuditEntry, User
from credits.models import LedgerEntry, Order, Pack, Plan
from tests.accounts.staff.staff_pages import client_in_group
from tests.conftest import signed_in
from tests.credits.customers import balance
from tests.support.staff_forms import post_confirmed

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

TOKEN = "a" * 32


@pytest.fixture
def finance(db: None) -> Client:
    return client_in_group("Finance")


@pytest.fixture
def support(db: None) -> Client:
    return client_in_group("Support")


def admin_url(obj: Account | Order, slug: str = "change") -> str:
    return f"/admin/{obj._meta.app_label}/{obj._meta.model_name}/{obj.pk}/{slug}/"


def run_action(client: Client, obj: Account | Order, slug: str, **form: Any) -> str:
    fields = {"form_token": TOKEN, **form}
    response = post_confirmed(client, admin_url(obj, slug), fields, follow=True)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_finance_grants_and_deducts_once_per_form(finance: Client, account: Account) -> None:
    page = run_action(finance, account, "grant", amount="250", reason="Sorry")
    assert "Granted 250 credits. The balance is 350." in page
    assert "This form was already submitted" in run_action(
        finance, account, "grant", amount="250", reason="x"
    )
    page = run_action(finance, account, "deduct", amount="400", reason="Too many")
    assert "Deducted 400 credits. The balance is 0, the debt 50." in page
    entries = account.ledger.exclude(kind="signup").order_by("pk")
    assert [(e.kind, e.amount) for e in entries] == [("grant", 250), ("deduct", -400)]
    assert {entry.actor for entry in entries} == {"finance@service.example"}


@pytest.mark.parametrize("slug", ["grant", "deduct"])
def test_invalid_amount_or_missing_reason_posts_nothing(
    finance: Client, account: Account, slug: str
) -> None:
    invalid = ("0", "-5", "1.5", "ten", "", str(2**63), "1000000001")
    for amount, reason in (*((amount, "x") for amount in invalid), ("5", " ")):
        page = run_action(finance, account, slug, amount=amount, reason=reason)
        assert "errorlist" in page, amount
    assert balance(account) == 100


def test_support_has_read_only_access_to_credits(support: Client, account: Account) -> None:
    page = support.get(admin_url(account)).content.decode()
    assert "Grant" not in page
    assert "Suspend" in page
    for slug in ("grant", "deduct", "change-plan"):
        for send in (support.get, support.post):
            assert send(admin_url(account, slug)).status_code == 403, slug
    assert balance(account) == 100


def test_support_suspends_and_finance_does_not(
    support: Client, finance: Client, account: Account
) -> None:
    assert finance.post(admin_url(account, "suspend")).status_code == 403
    assert "Suspended the account. Its API keys now return 403." in run_action(
        support, account, "suspend", reason="A disputed payment"
    )
    account.refresh_from_db()
    assert account.suspended_at
    assert "Lifted the suspension." in run_action(support, account, "lift")


def test_invoice_is_marked_paid_and_refunded(
    finance: Client, account: Account, order: Order
) -> None:
    page = run_action(finance, order, "mark-paid")
    assert "Marked INV-000001 paid. Granted 1,000 credits. The balance is 1,100." in page
    assert "isn&#x27;t possible: INV-000001" in run_action(finance, order, "mark-paid")
    assert "Refunded INV-000001: $5.00. The balance is 100." in run_action(
        finance, order, "refund", amount="5.00", reason="Asked for it"
    )
    assert "isn&#x27;t possible: INV-000001" in run_action(finance, order, "refund", reason="Again")
    actions = account.audit_entries.filter(action__startswith="order.").order_by("pk")
    assert [(entry.action, entry.actor_name) for entry in actions] == [
        ("order.placed", "owner@shop.example"),
        ("order.paid", "finance@service.example"),
        ("order.refund_asked", "finance@service.example"),
        ("order.refunded", "finance@service.example"),
    ]


def test_order_is_cancelled_by_staff(finance: Client, order: Order) -> None:
    assert "Canceled INV-000001." in run_action(finance, order, "cancel")
    assert "isn&#x27;t possible: INV-000001" in run_action(finance, order, "cancel")
    assert "isn&#x27;t possible: INV-000001" in run_action(
        finance, order, "refund", reason="Not paid"
    )


def test_balances_and_ledger_cannot_be_edited(
    finance: Client, staff: User, account: Account
) -> None:
    entry = LedgerEntry.objects.get()
    for client in (finance, signed_in(staff)):
        rows = {"ledgerentry": entry.pk, "wallet": account.pk, "subscription": account.pk}
        for model, pk in rows.items():
            assert client.get(f"/admin/credits/{model}/{pk}/change/").status_code == 200
            for verb in ("change", "delete"):
                response = client.post(f"/admin/credits/{model}/{pk}/{verb}/", {"amount": "5"})
                assert response.status_code == 403
        assert client.get("/admin/credits/ledgerentry/add/").status_code == 403
    assert balance(account) == 100


def test_plan_edited_in_the_admin_updates_its_accounts_immediately(
    staff_client: Client, account: Account
) -> None:
    free = Plan.objects.free()
    form = {"name": "Free", "monthly_credits": "200", "requests_per_minute": "90"}
    form |= {"list_addresses": "10000", "list_bytes": "10485760"}
    page = staff_client.post(f"/admin/credits/plan/{free.pk}/change/", form, follow=True)
    assert "1 account on this plan: the new rate limit applies now" in page.content.decode()
    account.refresh_from_db()
    assert account.request_limit == 90
    entry = AuditEntry.objects.get(action="plan.changed_by_staff")
    assert entry.target == "Free: Credits per month: 100 → 200, Requests per minute: 60 → 90"


def test_invalid_plan_shows_an_error_and_is_not_saved(staff_client: Client) -> None:
    form = {"code": "team", "name": "Team", "price_cents": "100", "monthly_credits": "5"}
    form |= {"requests_per_minute": "5", "is_offered": "on"}
    form |= {"list_addresses": "500", "list_bytes": "9000"}
    prices = ("-1", "0", "1.555", "ten", "NaN", str(2**63), "1000000.01")
    for change in (
        *({"price_cents": price} for price in prices),
        *({"monthly_credits": "0"}, {"requests_per_minute": "0"}, {"name": ""}),
        *({"list_addresses": "0"}, {"list_addresses": "10000001"}, {"list_bytes": "1073741825"}),
        *({"code": "free"}, {"code": "Free"}, {"code": "a b"}, {"name": "STARTER"}),
    ):
        response = staff_client.post("/admin/credits/plan/add/", {**form, **change})
        assert "errorlist" in response.content.decode(), change
    assert staff_client.post("/admin/credits/plan/add/", form).status_code == 302
    assert Plan.objects.count() == 5


def test_finance_cannot_change_plans(finance: Client, account: Account) -> None:
    assert finance.post(admin_url(account, "change-plan")).status_code == 403
    assert finance.get("/admin/credits/plan/add/").status_code == 403
    assert finance.get("/admin/credits/plan/").status_code == 200


def test_packs_cannot_be_deleted(staff: User, pack: Pack) -> None:
    response = signed_in(staff).post(f"/admin/credits/pack/{pack.pk}/delete/", {"post": "yes"})
    assert response.status_code == 403


def test_price_of_a_pack_is_shown_and_entered_as_money(staff_client: Client) -> None:
    pack = Pack.objects.get(credits=1_000)
    url = f"/admin/credits/pack/{pack.pk}/change/"
    page = staff_client.get(url).content.decode()
    assert "Price (USD, net)" in page
    assert 'value="5.00"' in page
    form = {"credits": "1000", "price_cents": "5.50", "requests_per_minute": "300"}
    form |= {"list_addresses": "10000", "list_bytes": "10485760", "is_offered": "on"}
    assert staff_client.post(url, form).status_code == 302
    pack.refresh_from_db()
    assert pack.price_cents == 550
    entry = AuditEntry.objects.get(action="pack.changed_by_staff")
    assert "Price (USD, net): 5.00 → 5.50" in entry.target


def test_unchanged_price_is_not_recorded_as_a_change(staff_client: Client) -> None:
    plan = Plan.objects.get(code="growth")
    form = {"name": "Growth", "price_cents": "99", "monthly_credits": "50000", "is_offered": "on"}
    form |= {"requests_per_minute": "1300", "list_bytes": str(plan.list_bytes)}
    form |= {"list_addresses": str(plan.list_addresses)}
    assert staff_client.post(f"/admin/credits/plan/{plan.pk}/change/", form).status_code == 302
    entry = AuditEntry.objects.get(action="plan.changed_by_staff")
    assert entry.target == "Growth: Requests per minute: 1200 → 1300"


def test_price_of_the_free_plan_is_read_only(staff_client: Client) -> None:
    page = staff_client.get(
        f"/admin/credits/plan/{Plan.objects.free().pk}/change/"
    ).content.decode()
    assert "$0.00" in page
    assert 'name="price_cents"' not in page
