"""Ask mail servers at the pace of each mail organization: docs/design/mailbox-checks.md.

Conversations are greenlets. Only the caller's greenlet uses the database, so a process needs one
connection.
"""

import logging
import math
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial

import gevent
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import Window
from django.db.models.functions import RowNumber
from django.utils import timezone
from gevent.queue import Empty, Queue

from engine import PENDING_SECONDS
from validation.models import MailHostPace, Probe
from validation.probes.asking import Answer, Question, converse, give_up, prepare, remember
from validation.probes.metrics import conversations
from validation.probes.settlement import finish, postpone

logger = logging.getLogger(__name__)

# Conversations with a mail organization from one egress address.
MAX_CONNECTIONS = 2
TURN_SECONDS, IDLE_SECONDS = 30.0, 0.25
CLAIM_INTERVAL_SECONDS, GIVE_UP_INTERVAL_SECONDS = 0.05, 1.0
FETCH_SIZE = 20
# Between the attempts at hosts that greylist or have a temporary error.
RETRY_DELAYS = [timedelta(seconds=seconds) for seconds in PENDING_SECONDS[1:]]
POSTPONED = timedelta(minutes=5)


class Turn:
    """The work on a mail organization that this process leases."""

    def __init__(self, pace: MailHostPace) -> None:
        self.pace = pace
        self.ends_at = time.monotonic() + TURN_SECONDS
        # When the pace allows the next conversation, and when to look for more.
        self.next_at = self._fetch_at = 0.0
        self.in_progress: set[int] = set()
        self._fetched: deque[Probe] = deque()

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.ends_at

    @property
    def starts_at(self) -> float:
        """Return when the next conversation may start, unless another ends before."""
        if self.is_over or len(self.in_progress) >= MAX_CONNECTIONS:
            return math.inf
        return self.next_at if self._fetched else max(self.next_at, self._fetch_at)

    def next_probe(self) -> Probe | None:
        if self.is_over or len(self.in_progress) >= MAX_CONNECTIONS:
            return None
        now = time.monotonic()
        if now < self.next_at:
            return None
        if not self._fetched and now >= self._fetch_at:
            self._fetch_at = now + IDLE_SECONDS
            self._fetch()
        if not self._fetched:
            if not self.in_progress:
                self.end()
            return None
        self.next_at = time.monotonic() + 1 / self.pace.rate
        return self._fetched.popleft()

    def _fetch(self) -> None:
        """Let accounts take turns, whatever the number of their checks."""
        pace = self.pace
        due = Probe.objects.due().filter(organization=pace.organization, egress=pace.egress)
        turns = Window(RowNumber(), partition_by="account", order_by=("next_attempt_at", "pk"))
        fair = due.exclude(pk__in=self.in_progress).annotate(turn=turns)
        self._fetched.extend(fair.order_by("turn", "next_attempt_at", "pk")[:FETCH_SIZE])

    def end(self) -> None:
        self.ends_at = 0.0

    def release(self) -> None:
        seconds = max(0.0, self.next_at - time.monotonic())
        # Each claim increments `attempts`, a small integer.
        self.pace.release(attempts=0, next_at=timezone.now() + timedelta(seconds=seconds))


class ProbeQueue:
    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self._answers: Queue = Queue()
        self._in_progress: set[int] = set()
        self._claims_at = self._gives_up_at = 0.0

    def wait(self, seconds: float) -> None:
        """Wait for an answer, or until the next conversation may start."""
        starts_at = min((turn.starts_at for turn in self.turns), default=math.inf)
        with suppress(Empty):
            self._answers.peek(timeout=min(seconds, max(0.001, starts_at - time.monotonic())))

    def step(self, *, is_stopping: bool) -> bool:
        """Store answers, claim paces and start conversations. Return whether there was work."""
        has_worked = self._store_answers()
        if not is_stopping:
            now = time.monotonic()
            if now >= self._gives_up_at:
                self._gives_up_at = now + GIVE_UP_INTERVAL_SECONDS
                self._give_up()
            if now >= self._claims_at:
                self._claims_at = now + CLAIM_INTERVAL_SECONDS
                has_worked |= self._claim()
            for turn in self.turns:
                while self._has_slot() and (probe := turn.next_probe()):
                    self._start(probe, converse, turn)
                    has_worked = True
        for turn in [turn for turn in self.turns if not turn.in_progress]:
            if turn.is_over or is_stopping:
                turn.release()
                self.turns.remove(turn)
        return has_worked

    def _has_slot(self) -> bool:
        return len(self._in_progress) < settings.PROBE_WORKERS

    def _claim(self) -> bool:
        has_worked = False
        # Claims lock rows, so they are worth a query before.
        while self._has_slot() and MailHostPace.objects.due().exists():
            pace = MailHostPace.objects.claim()
            if pace is None:
                break
            self.turns.append(Turn(pace))
            has_worked = True
        return has_worked

    def _give_up(self) -> None:
        """End checks that are out of time, or whose host won't be asked in time."""
        for probe in Probe.objects.in_vain().order_by("pk")[:FETCH_SIZE]:
            if self._has_slot() and probe.pk not in self._in_progress:
                is_overdue = probe.ends_at <= timezone.now()
                reason = probe.reason or ("smtp_timeout" if is_overdue else "server_refused_us")
                self._start(probe, partial(give_up, reason=reason), None)

    def _start(
        self, probe: Probe, get_answer: Callable[[Question], Answer], turn: Turn | None
    ) -> None:
        question = prepare(probe)
        self._in_progress.add(probe.pk)
        if turn:
            turn.in_progress.add(probe.pk)
        gevent.spawn(lambda: self._answers.put((turn, probe, get_answer(question))))

    def _store_answers(self) -> bool:
        has_worked = False
        while not self._answers.empty():
            # It stays in the queue while the database is unavailable.
            turn, probe, answer = self._answers.peek()
            try:
                store_answer(probe, answer, turn and turn.pace)
            except (OperationalError, InterfaceError):
                raise
            except Exception:
                logger.exception("The answer to a mailbox check can't be stored")
                # Otherwise the host would be asked again and again.
                later = timezone.now() + POSTPONED
                Probe.objects.due().filter(pk=probe.pk).update(next_attempt_at=later)
            self._answers.get()
            self._in_progress.discard(probe.pk)
            if turn:
                turn.in_progress.discard(probe.pk)
                if turn.pace.is_cooling:
                    turn.end()
            has_worked = True
        return has_worked


def store_answer(probe: Probe, answer: Answer, pace: MailHostPace | None) -> None:
    """Finish the check, or decide when to ask again. `pace` is None if no host was asked."""
    if pace is not None:
        conversations.labels(answer.reply_class or "none").inc()
        pace.record(answer.last_reply, refused_us=answer.refused_us)
    if pace is not None and answer.may_ask_again and probe.tries < len(RETRY_DELAYS):
        until = timezone.now() + RETRY_DELAYS[probe.tries]
        if until < probe.ends_at:
            postpone(probe=probe, finding=answer.finding, until=until)
            return
    finish(probe=probe, finding=answer.finding)
    remember(answer)
