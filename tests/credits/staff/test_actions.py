"""What staff do about credits and money: by their group, once, and on record."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from accounts.models import Account, AuditEntry, User
from credits.models import LedgerEntry, Order, Pack, Plan, Wallet
from credits.orders.lifecycle import Buyer, fulfil_order, start_order
from tests.conftest import make_user, signed_in

pytestmark = pytest.mark.django_db

TOKEN = "a" * 32


def of_group(name: str) -> User:
    user = make_user(f"{name.lower()}@service.example", is_staff=True)
    user.groups.add(Group.objects.get(name=name))
    return user


@pytest.fixture
def finance(db: None) -> Client:
    return signed_in(of_group("Finance"))


@pytest.fixture
def support(db: None) -> Client:
    return signed_in(of_group("Support"))


@pytest.fixture
def boss(staff: User) -> Client:
    return signed_in(staff)


@pytest.fixture
def order(account: Account, owner: User, pack: Pack) -> Order:
    return start_order(account=account, item=pack, buyer=Buyer("The Shop Ltd"), actor=owner)


def page_of(thing: Account | Order, act: str = "change") -> str:
    return f"/admin/{thing._meta.app_label}/{thing._meta.model_name}/{thing.pk}/{act}/"


def act(client: Client, thing: Account | Order, name: str, **form: Any) -> str:
    answer = client.post(page_of(thing, name), {"form_token": TOKEN, **form}, follow=True)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def balance(account: Account) -> int:
    return Wallet.objects.get(account=account).balance


def test_finance_grants_and_takes_back_once_a_form(finance: Client, account: Account) -> None:
    said = act(finance, account, "grant", amount="250", reason="Sorry")
    assert "Granted 250 credits. The balance is 350." in said
    assert "This form was sent before" in act(finance, account, "grant", amount="250", reason="x")
    said = act(finance, account, "take-back", amount="400", reason="Too many")
    assert "Took back 400 credits. The balance is 0 and the debt 50." in said
    entries = account.ledger.exclude(kind="signup").order_by("pk")
    assert [(e.kind, e.amount, e.actor) for e in entries] == [
        ("grant", 250, "finance@service.example"),
        ("take_back", -400, "finance@service.example"),
    ]


@pytest.mark.parametrize("amount", ["0", "-5", "1.5", "ten", "", str(2**63), "1000000001"])
@pytest.mark.parametrize("name", ["grant", "take-back"])
def test_an_odd_amount_gets_an_error_and_books_nothing(
    finance: Client, account: Account, name: str, amount: str
) -> None:
    assert "errorlist" in act(finance, account, name, amount=amount, reason="x")
    assert balance(account) == 100


def test_without_a_reason_nothing_is_granted(finance: Client, account: Account) -> None:
    assert "errorlist" in act(finance, account, "grant", amount="5", reason=" ")
    assert balance(account) == 100


@pytest.mark.parametrize("name", ["grant", "take-back", "change-plan"])
def test_support_looks_and_does_not_touch_money(
    support: Client, account: Account, name: str
) -> None:
    shown = support.get(page_of(account)).content.decode()
    assert "Grant" not in shown
    assert "Suspend" in shown
    for send in (support.get, support.post):
        assert send(page_of(account, name)).status_code == 403
    assert balance(account) == 100


def test_support_suspends_and_finance_does_not(
    support: Client, finance: Client, account: Account
) -> None:
    assert finance.post(page_of(account, "suspend")).status_code == 403
    assert "Suspended: its keys answer 403." in act(support, account, "suspend")
    account.refresh_from_db()
    assert account.suspended_at
    assert "No longer suspended." in act(support, account, "lift")


def test_customers_have_no_way_in(account: Account, owner: User, order: Order) -> None:
    client = signed_in(owner)
    for thing, name in ((account, "grant"), (order, "mark-paid"), (order, "refund")):
        answer = client.post(page_of(thing, name), {"form_token": TOKEN, "amount": "5"})
        assert answer.status_code == 302
    assert balance(account) == 100


def test_an_invoice_is_marked_paid_and_refunded(
    finance: Client, account: Account, order: Order
) -> None:
    said = act(finance, order, "mark-paid")
    assert "INV-000001 is paid. 1,000 credits are granted. The balance is 1,100." in said
    assert "is not possible: INV-000001" in act(finance, order, "mark-paid")
    assert "INV-000001 is refunded. The balance is 100." in act(
        finance, order, "refund", reason="Asked for it"
    )
    assert "is not possible: INV-000001" in act(finance, order, "refund", reason="Again")
    actions = account.audit_entries.filter(action__startswith="order.").order_by("pk")
    assert [(entry.action, entry.actor_name) for entry in actions] == [
        ("order.placed", "owner@shop.example"),
        ("order.paid", "finance@service.example"),
        ("order.refund_asked", "finance@service.example"),
        ("order.refunded", "finance@service.example"),
    ]


def test_an_order_is_cancelled_by_staff(finance: Client, order: Order) -> None:
    assert "INV-000001 is cancelled." in act(finance, order, "cancel")
    assert "is not possible: INV-000001" in act(finance, order, "cancel")
    assert "is not possible: INV-000001" in act(finance, order, "refund", reason="Not paid")


def test_a_plan_is_changed_by_staff_on_record(boss: Client, account: Account) -> None:
    growth = Plan.objects.get(code="growth")
    form = {"plan": str(growth.pk), "reason": "A pilot"}
    assert "The plan is Growth. No credits were granted." in act(
        boss, account, "change-plan", **form
    )
    assert "has the plan Growth already" in act(boss, account, "change-plan", **form)
    assert account.audit_entries.get(action="plan.given_by_staff").target.endswith("A pilot")


def test_balances_and_ledger_cannot_be_edited(
    finance: Client, staff: User, account: Account
) -> None:
    entry = LedgerEntry.objects.get()
    for client in (finance, signed_in(staff)):
        rows = {"ledgerentry": entry.pk, "wallet": account.pk, "subscription": account.pk}
        for model, pk in rows.items():
            assert client.get(f"/admin/credits/{model}/{pk}/change/").status_code == 200
            for verb in ("change", "delete"):
                answer = client.post(f"/admin/credits/{model}/{pk}/{verb}/", {"amount": "5"})
                assert answer.status_code == 403
        assert client.get("/admin/credits/ledgerentry/add/").status_code == 403
    assert balance(account) == 100


def test_new_terms_of_a_plan_reach_its_accounts_at_once(boss: Client, account: Account) -> None:
    free = Plan.objects.free()
    form = {"name": "Free", "monthly_credits": "200", "requests_per_minute": "90"}
    said = boss.post(f"/admin/credits/plan/{free.pk}/change/", form, follow=True)
    assert "1 account on this plan: the limit changed at once" in said.content.decode()
    account.refresh_from_db()
    assert account.request_limit == 90
    entry = AuditEntry.objects.get(action="plan.changed_by_staff")
    assert entry.target == "Free: monthly_credits: 100 → 200, requests_per_minute: 60 → 90"


@pytest.mark.parametrize(
    "change",
    [
        *({"price_cents": price} for price in ("-1", "0", "1.5", "ten", str(2**63), "100000001")),
        *({"monthly_credits": "0"}, {"requests_per_minute": "0"}, {"name": ""}),
        *({"code": "free"}, {"code": "Free"}, {"code": "a b"}, {"name": "STARTER"}),
    ],
)
def test_odd_terms_of_a_plan_are_told_and_not_kept(boss: Client, change: dict[str, str]) -> None:
    form = {"code": "team", "name": "Team", "price_cents": "100", "monthly_credits": "5"}
    form |= {"requests_per_minute": "5", "is_offered": "on"}
    answer = boss.post("/admin/credits/plan/add/", {**form, **change})
    assert "errorlist" in answer.content.decode()
    assert boss.post("/admin/credits/plan/add/", form).status_code == 302
    assert Plan.objects.count() == 5


@pytest.mark.parametrize("price", ["0", "-5", str(2**63)])
def test_the_price_of_what_is_sold_cannot_become_odd(boss: Client, pack: Pack, price: str) -> None:
    growth = Plan.objects.get(code="growth")
    terms = {"price_cents": price, "requests_per_minute": "5", "is_offered": "on"}
    plan = {**terms, "name": "Growth", "monthly_credits": "5"}
    for path, form in (
        (f"plan/{growth.pk}", plan),
        (f"pack/{pack.pk}", {**terms, "credits": "1000"}),
    ):
        answer = boss.post(f"/admin/credits/{path}/change/", form)
        assert "errorlist" in answer.content.decode()


def test_the_month_under_a_paid_upgrade_is_not_refunded_alone(
    finance: Client, account: Account, owner: User
) -> None:
    base, upgrade = (
        start_order(
            account=account,
            item=Plan.objects.get(code=code),
            buyer=Buyer("The Shop Ltd"),
            actor=owner,
        )
        for code in ("starter", "growth")
        if _pay_all(account)
    )
    _pay_all(account)
    said = act(finance, base, "refund", reason="By mistake")
    assert f"Refund {upgrade.number} first" in said
    assert "is refunded." in act(finance, upgrade, "refund", reason="First")
    assert "is refunded." in act(finance, base, "refund", reason="Then")
    assert balance(account) == 100


def _pay_all(account: Account) -> bool:
    for order in account.orders.pending():
        fulfil_order(order=order)
    return True


def test_finance_does_what_it_is_for_and_no_more(finance: Client, account: Account) -> None:
    assert finance.post(page_of(account, "change-plan")).status_code == 403
    assert finance.get("/admin/credits/plan/add/").status_code == 403
    assert finance.get("/admin/credits/plan/").status_code == 200


def test_what_is_sold_is_never_deleted(staff: User, pack: Pack) -> None:
    answer = signed_in(staff).post(f"/admin/credits/pack/{pack.pk}/delete/", {"post": "yes"})
    assert answer.status_code == 403


def test_staff_find_a_customer_by_their_invoice_and_see_their_money_at_a_glance(
    finance: Client, account: Account, order: Order
) -> None:
    assert "INV-000001" in finance.get("/admin/credits/order/?q=1").content.decode()
    listed = finance.get("/admin/accounts/account/?q=owner@shop.example").content.decode()
    assert account.public_id in listed
    page = finance.get(page_of(account)).content.decode()
    for shown in ("INV-000001", "Sign-up credits", "Free", "Grant", "Take back"):
        assert shown in page


@pytest.mark.parametrize(
    "model",
    ["ledgerentry", "order", "pack", "plan", "providerevent", "subscription", "useday", "usehour"],
)
def test_every_list_of_money_opens_and_is_searched(finance: Client, model: str) -> None:
    assert finance.get(f"/admin/credits/{model}/?q=shop").status_code == 200
