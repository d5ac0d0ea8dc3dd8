"""Work on the queues of endpoints: docs/design/webhooks.md.

Attempts are greenlets. Only the caller's greenlet uses the database, so a process needs one
connection.
"""

import logging
import time
from collections import deque
from contextlib import suppress
from datetime import timedelta

import gevent
from django.db import InterfaceError, OperationalError
from django.utils import timezone
from gevent.queue import Empty, Queue

from accounts.models import Delivery, DeliveryAttempt, WebhookEndpoint
from accounts.webhooks.delivery import store_outcome
from accounts.webhooks.fan_out import number_events
from accounts.webhooks.metrics import attempts
from accounts.webhooks.sending import send

logger = logging.getLogger(__name__)

# Attempts in progress, for an endpoint and for an account.
ENDPOINT_SLOTS, ACCOUNT_SLOTS = 4, 12
# For healthy and for failing endpoints: those that are silent use the slots of one another.
HEALTHY_SLOTS, FAILING_SLOTS = 48, 16
TURN_SECONDS, CLAIM_INTERVAL_SECONDS = 5.0, 0.05
FETCH_SIZE = 20
POSTPONED = timedelta(minutes=5)


class Turn:
    """The work on an endpoint that this process leases, until nothing is due or some fails."""

    def __init__(self, endpoint: WebhookEndpoint) -> None:
        self.endpoint = endpoint
        self.ends_at = time.monotonic() + TURN_SECONDS
        self.in_progress: set[int] = set()
        self._fetched: deque[Delivery] = deque()
        self.has_failed = False
        # An endpoint that may be silent gets one slot.
        self._slots = 1

    def next_delivery(self) -> Delivery | None:
        is_over = self.has_failed or time.monotonic() >= self.ends_at
        if is_over or len(self.in_progress) >= self._slots:
            return None
        if not self._fetched:
            due = Delivery.objects.due().filter(endpoint=self.endpoint, endpoint__disabled_at=None)
            due = due.exclude(pk__in=self.in_progress).select_related("event", "endpoint")
            self._fetched.extend(due.order_by("next_attempt_at", "pk")[:FETCH_SIZE])
        return self._fetched.popleft() if self._fetched else None

    def record(self, attempt: DeliveryAttempt) -> None:
        if attempt.error:
            self.has_failed = True
            self.endpoint.failing_since = self.endpoint.failing_since or attempt.at
        else:
            self._slots = ENDPOINT_SLOTS
            self.endpoint.failing_since = None


class Queues:
    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self._outcomes: Queue = Queue()
        self._claims_at = 0.0

    def wait(self, seconds: float) -> None:
        with suppress(Empty):
            self._outcomes.peek(timeout=seconds)

    def step(self, *, is_stopping: bool) -> bool:
        has_worked = self._store_outcomes()
        if not is_stopping:
            has_worked |= number_events() > 0
            if time.monotonic() >= self._claims_at:
                self._claims_at = time.monotonic() + CLAIM_INTERVAL_SECONDS
                has_worked |= self._claim_endpoints()
            for turn in self.turns:
                while self._start_attempt(turn):
                    has_worked = True
        for turn in [turn for turn in self.turns if not turn.in_progress]:
            # Each claim increments `attempts`, a small integer.
            turn.endpoint.release(attempts=0, turn_at=timezone.now())
            self.turns.remove(turn)
        return has_worked

    def _store_outcomes(self) -> bool:
        has_worked = False
        while not self._outcomes.empty():
            # It stays in the queue while the database is unavailable.
            turn, attempt = self._outcomes.peek()
            delivery = attempt.delivery
            try:
                store_outcome(attempt, was_failing=turn.endpoint.is_failing)
            except (OperationalError, InterfaceError):
                raise
            except Exception:
                logger.exception("The outcome of a webhook can't be stored")
                # Otherwise it would be sent again and again.
                later = timezone.now() + POSTPONED
                Delivery.objects.due().filter(pk=delivery.pk).update(next_attempt_at=later)
            self._outcomes.get()
            turn.in_progress.discard(delivery.pk)
            turn.record(attempt)
            result = attempt.error or "delivered"
            attempts.labels(result).inc()
            facts = {"status": attempt.status, "duration_ms": attempt.duration_ms}
            logger.info("Delivery %s: %s", delivery.public_id, result, extra=facts)
            has_worked = True
        return has_worked

    def _claim_endpoints(self) -> bool:
        has_worked = False
        # Claims lock rows, so they are worth a query before.
        if not WebhookEndpoint.objects.due().exists():
            return False
        for is_failing in (False, True):
            while self._free_slots(is_failing=is_failing) > 0:
                endpoints = WebhookEndpoint.objects.filter(failing_since__isnull=not is_failing)
                full = [
                    turn.endpoint.account_id
                    for turn in self.turns
                    if not self._has_account_slot(turn.endpoint)
                ]
                endpoint = endpoints.exclude(account__in=full).claim()
                if endpoint is None:
                    break
                turn = Turn(endpoint)
                self.turns.append(turn)
                self._start_attempt(turn)
                has_worked = True
                if not self._outcomes.empty():
                    # Claims take time, in which the turns of others would end.
                    break
        return has_worked

    def _start_attempt(self, turn: Turn) -> bool:
        if self._free_slots(is_failing=turn.endpoint.is_failing) <= 0:
            return False
        if not self._has_account_slot(turn.endpoint):
            return False
        delivery = turn.next_delivery()
        if delivery is None:
            return False
        turn.in_progress.add(delivery.pk)
        gevent.spawn(lambda: self._outcomes.put((turn, send(delivery))))
        return True

    def _free_slots(self, *, is_failing: bool) -> int:
        turns = [turn for turn in self.turns if turn.endpoint.is_failing is is_failing]
        slots = FAILING_SLOTS if is_failing else HEALTHY_SLOTS
        return slots - sum(len(turn.in_progress) for turn in turns)

    def _has_account_slot(self, endpoint: WebhookEndpoint) -> bool:
        turns = [turn for turn in self.turns if turn.endpoint.account_id == endpoint.account_id]
        return sum(len(turn.in_progress) for turn in turns) < ACCOUNT_SLOTS
