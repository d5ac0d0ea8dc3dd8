"""Run random operations in random order.

After each step the books agree, and the balance equals a simple running total.
"""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from apikeys.services import create_key
from credits import services
from credits.models import Hold, LedgerEntry, Order, Pack, Plan, UseHour, Wallet
from credits.orders import fulfillment, placement, refunds
from credits.orders.daily_jobs import renew_subscriptions
from credits.plans import changes, offers
from credits.wallet import holds
from credits.wallet.books import find_discrepancies
from credits.wallet.charges import Charge, InsufficientCredits
from runtime.http.refusals import Refused
from tests.credits.customers import get_buyer, place_order, sign_up
from tests.fuzz.exploration import explore_steps
from validation.models.replays import digest
from validation.results.replays import find_response
from validation.services import validate
from validation.validations import Caller

EMAILS = {"no address": 1, "jane@ordinary-shop.com": 0, "risky@sandbox.test": 0}
AMOUNTS = st.integers(1, 3_000)
INDEX = st.integers(0, 9)


class BooksMachine(RuleBasedStateMachine):
    """`net` is the running total: incoming less outgoing credits."""

    number = 0

    @initialize()
    def sign_up(self) -> None:
        BooksMachine.number += 1
        self.moment = datetime(2026, 11, 21, 9, tzinfo=UTC)
        self.travel = time_machine.travel(self.moment, tick=False)
        self.travel.start()
        self.account = sign_up(f"buyer{BooksMachine.number}@shop.example")
        self.user = get_buyer(self.account)
        self.key, _ = create_key(account=self.account, name="Server", actor=self.user)
        self.net = 100
        # What each open hold has left, the oldest first.
        self.holds: dict[str, int] = {}

    def teardown(self) -> None:
        self.travel.stop()

    @rule(amount=AMOUNTS)
    def grant(self, amount: int) -> None:
        services.grant(account=self.account, amount=amount, reason="Gift", actor=None)
        self.net += amount

    @rule(amount=AMOUNTS)
    def deduct(self, amount: int) -> None:
        self._cancel_holds_for(amount)
        services.deduct(account=self.account, amount=amount, reason="Error", actor=None)
        self.net -= amount

    @rule(amount=AMOUNTS)
    def hold(self, amount: int) -> None:
        source = f"list:{BooksMachine.number}-{Hold.objects.count()}"
        try:
            for _ in range(2):
                holds.hold_credits(
                    account=self.account, amount=amount, source=source, reason="A list"
                )
        except InsufficientCredits:
            assert self._balance() < amount
        else:
            self.holds[source] = amount

    @precondition(lambda self: self.holds)
    @rule(index=INDEX, cost=st.integers(0, 300))
    def charge_a_hold(self, index: int, cost: int) -> None:
        source = self._any_hold(index)
        hold = Hold.objects.get(source=source)
        charge = Charge(self.account, self.key, "deliverable", cost, 5)
        try:
            holds.charge_hold(hold=hold, charges=[charge])
        except holds.HoldEnded:
            assert self.holds[source] < cost
        else:
            self.holds[source] -= cost
            self.net -= cost

    @precondition(lambda self: self.holds)
    @rule(index=INDEX, to=st.integers(0, 300))
    def shrink_a_hold(self, index: int, to: int) -> None:
        source = self._any_hold(index)
        before, self.holds[source] = self.holds[source], min(to, self.holds[source])
        freed = holds.shrink_hold(hold=Hold.objects.get(source=source), to=to)
        assert freed == before - self.holds[source]

    @precondition(lambda self: self.holds)
    @rule(index=INDEX)
    def release_a_hold(self, index: int) -> None:
        source = self._any_hold(index)
        hold = Hold.objects.get(source=source)
        assert holds.release_hold(hold=hold) == self.holds.pop(source)
        assert holds.release_hold(hold=hold) == 0
        with pytest.raises(holds.HoldEnded):
            holds.charge_hold(hold=hold, charges=[])

    @rule(email=st.sampled_from(sorted(EMAILS)))
    def call(self, email: str) -> None:
        price = 0 if email.endswith("sandbox.test") else 1
        self._call(
            email, None, EMAILS[email], refused=self._balance() < price and EMAILS[email] > 0
        )

    @rule(name=st.sampled_from("abc"))
    def call_with_an_idempotency_key(self, name: str) -> None:
        """Repeating a request returns the stored response, and costs nothing."""
        caller = self._caller()
        stored = find_response(self.account, name, digest("address", "no address"))
        if stored:
            response = validate(caller=caller, email="no address", idempotency_key=name)
            assert (response.body, response.cost) == (stored, 0)
        else:
            self._call("no address", name, 1, refused=self._balance() < 1)

    @rule(index=INDEX)
    def order_a_pack(self, index: int) -> None:
        pack = Pack.objects.all()[index % 2]
        if self.account.orders.pending().count() < placement.MAX_PENDING_ORDERS:
            place_order(self.account, pack)

    @rule(code=st.sampled_from(["starter", "growth", "scale"]))
    def order_a_plan(self, code: str) -> None:
        try:
            place_order(self.account, code)
        except offers.OrderRefused:
            assert self._plan().price_cents >= Plan.objects.get(code=code).price_cents

    @rule(code=st.sampled_from(["free", "starter", "growth"]))
    def choose_a_lower_plan(self, code: str) -> None:
        plan = Plan.objects.get(code=code)
        try:
            changes.schedule_plan(account=self.account, plan=plan, actor=self.user)
        except Refused:
            assert plan.price_cents > self._plan().price_cents

    @precondition(lambda self: self.account.orders.exists())
    @rule(index=INDEX)
    def pay(self, index: int) -> None:
        order = self._any_order(index)
        is_unpaid = order.state in ("pending", "cancelled")
        credits = order.credits - order.credits * order.refunded_cents // order.total_cents
        assert fulfillment.fulfill_order(order=order) is is_unpaid
        self.net += credits if is_unpaid else 0

    @precondition(lambda self: self.account.orders.exists())
    @rule(index=INDEX)
    def cancel(self, index: int) -> None:
        order = self._any_order(index)
        assert placement.cancel_order(order=order) is order.is_pending

    @precondition(lambda self: self.account.orders.exists())
    @rule(index=INDEX, percent=st.integers(1, 100))
    def refund(self, index: int, percent: int) -> None:
        order = self._any_order(index)
        cents, total = order.total_cents * percent // 100, order.total_cents
        is_paid = order.state == "paid"
        share = order.credits * cents // total - order.credits * order.refunded_cents // total
        if refunds.refund_order(order=order, cents=cents, reported_by_provider=is_paid) and is_paid:
            self._cancel_holds_for(share)
            self.net -= share

    @rule(days=st.integers(1, 40))
    def days_pass(self, days: int) -> None:
        self.travel.stop()
        self.moment += timedelta(days=days)
        self.travel = time_machine.travel(self.moment, tick=False)
        self.travel.start()
        before = LedgerEntry.objects.filter(account=self.account).count()
        for _ in range(2):
            renew_subscriptions()
        topped_up = LedgerEntry.objects.filter(account=self.account).order_by("pk")[before:]
        assert len(topped_up) <= 1
        for entry in topped_up:
            assert entry.amount <= 100
            self.net += entry.amount

    @invariant()
    def books_agree(self) -> None:
        if not hasattr(self, "net"):
            return
        assert not list(find_discrepancies())
        wallet = Wallet.objects.get(account=self.account)
        assert wallet.owned == self.net
        expected = (self._balance(), sum(self.holds.values()), max(-self.net, 0))
        assert (wallet.balance, wallet.held, wallet.debt) == expected

    def _balance(self) -> int:
        return max(self.net - sum(self.holds.values()), 0)

    def _cancel_holds_for(self, amount: int) -> None:
        """Cancel the newest holds, whole ones, until the balance covers the deduction."""
        while self.holds and self._balance() < amount:
            *_, newest = self.holds
            del self.holds[newest]

    def _any_hold(self, index: int) -> str:
        return list(self.holds)[index % len(self.holds)]

    def _call(self, email: str, name: str | None, cost: int, *, refused: bool) -> None:
        used = UseHour.objects.filter(account=self.account).credits()
        try:
            response = validate(caller=self._caller(), email=email, idempotency_key=name)
        except InsufficientCredits:
            assert refused
            assert UseHour.objects.filter(account=self.account).credits() == used
        else:
            assert (response.cost, refused) == (cost, False)
            self.net -= cost

    def _caller(self) -> Caller:
        self.account.refresh_from_db()
        return Caller(self.account, self.key, "req_any")

    def _any_order(self, index: int) -> Order:
        orders = list(self.account.orders.order_by("pk"))
        return orders[index % len(orders)]

    def _plan(self) -> Plan:
        self.account.refresh_from_db()
        return self.account.subscription.plan


@pytest.mark.django_db
def test_books_agree_after_every_step_in_any_order() -> None:
    assert explore_steps(BooksMachine, quick=6, steps=30) > 10
