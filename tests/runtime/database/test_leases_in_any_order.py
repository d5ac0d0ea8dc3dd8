"""Run random operations on leased rows: each row has one holder at most, as in a simple model."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from runtime.database.leased_rows import CLOCK_TOLERANCE
from runtime.mail.outbox import queue_mail
from runtime.models import Mail
from tests.fuzz.exploration import explore_steps

ROWS = 2
INDEX = st.integers(0, 99)


class LeaseMachine(RuleBasedStateMachine):
    """`claims` are all claims, and `holders` those whose lease no later claim or release ended."""

    @initialize()
    def queue(self) -> None:
        self.travel = time_machine.travel(datetime(2026, 11, 21, 9, tzinfo=UTC), tick=False)
        self.clock = self.travel.start()
        self.ids = [
            queue_mail(to="jane@shop.example", subject=f"{n}", text="", html="").pk
            for n in range(ROWS)
        ]
        self.claims: list[Mail] = []
        self.holders: dict[int, Mail] = {}
        self.ends: dict[int, datetime] = {}

    def teardown(self) -> None:
        self.travel.stop()

    def _now(self) -> datetime:
        """Return the time, which differs from that of every other step."""
        self.clock.shift(1)
        return datetime.now(UTC)

    def _is_free(self, pk: int, now: datetime) -> bool:
        latest = now + Mail.LEASE + CLOCK_TOLERANCE
        return pk not in self.holders or not now < self.ends[pk] <= latest

    @rule()
    def claim(self) -> None:
        now = self._now()
        free = [pk for pk in self.ids if self._is_free(pk, now)]
        claimed = Mail.objects.claim()
        assert (claimed.pk if claimed else None) == (free[0] if free else None)
        if claimed:
            self.claims.append(claimed)
            self.holders[claimed.pk] = claimed
            self.ends[claimed.pk] = now + Mail.LEASE

    @rule()
    def claim_while_the_clock_is_ahead(self) -> None:
        self.clock.shift(timedelta(hours=20))
        self.claim()
        self.clock.shift(timedelta(hours=-20))

    @precondition(lambda self: self.claims)
    @rule(index=INDEX)
    def renew(self, index: int) -> None:
        claim = self._any_claim(index)
        now = self._now()
        assert claim.renew() is self._is_holder(claim)
        if self._is_holder(claim):
            self.ends[claim.pk] = now + Mail.LEASE

    @precondition(lambda self: self.claims)
    @rule(index=INDEX)
    def release(self, index: int) -> None:
        claim = self._any_claim(index)
        assert claim.release() is self._is_holder(claim)
        if self._is_holder(claim):
            del self.holders[claim.pk]

    @rule(seconds=st.sampled_from([10, 60, 119, 300]))
    def time_passes(self, seconds: int) -> None:
        self.clock.shift(seconds)

    @invariant()
    def every_claim_knows_whether_it_is_held(self) -> None:
        for claim in getattr(self, "claims", []):
            assert claim.lock_if_held() is self._is_holder(claim)

    @invariant()
    def every_claim_is_counted(self) -> None:
        claimed = [claim.pk for claim in getattr(self, "claims", [])]
        for mail in Mail.objects.all():
            assert mail.attempts == claimed.count(mail.pk)

    def _any_claim(self, index: int) -> Mail:
        return self.claims[index % len(self.claims)]

    def _is_holder(self, claim: Mail) -> bool:
        return self.holders.get(claim.pk) is claim


@pytest.mark.django_db
def test_rows_have_one_holder_after_any_operations() -> None:
    assert explore_steps(LeaseMachine, quick=8, steps=25) > 50
