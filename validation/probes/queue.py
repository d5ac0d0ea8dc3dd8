"""Ask mail servers at the pace of each mail organization: docs/design/mailbox-checks.md.

Conversations are greenlets. Only the caller's greenlet uses the database, so a process needs one
connection.
"""

import logging
import math
import random
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial

import gevent
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, OuterRef, Q, Window
from django.db.models.functions import RowNumber
from django.utils import timezone
from gevent.queue import Empty, Queue

from engine import PENDING_SECONDS
from validation.models import MailHostPace, Probe, ProbeGroup
from validation.models.probes import ProbeQuerySet
from validation.probes import groups
from validation.probes.asking import Answer, Question, converse, give_up, prepare, remember
from validation.probes.metrics import conversations
from validation.probes.settlement import finish, postpone

logger = logging.getLogger(__name__)

# Conversations with a mail organization from one egress address.
MAX_CONNECTIONS = 2
TURN_SECONDS, IDLE_SECONDS = 30.0, 0.25
# An organization is mostly waiting for its pace.
TURNS_PER_WORKER = 4
CLAIM_INTERVAL_SECONDS, GIVE_UP_INTERVAL_SECONDS, WAKE_INTERVAL_SECONDS = 0.05, 1.0, 5.0
# A call that comes later waits for these.
FETCH_SIZE = 4
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
            self._fetch()
            if not self._fetched:
                self._fetch_at = now + IDLE_SECONDS
        if not self._fetched:
            if not self.in_progress:
                self.end()
            return None
        self.next_at = time.monotonic() + 1 / self.pace.rate
        return self._fetched.popleft()

    def _fetch(self) -> None:
        """Let accounts take turns, whatever the number of their checks."""
        due = self._due().exclude(pk__in=self.in_progress)
        turns = Window(RowNumber(), partition_by="account", order_by=("next_attempt_at", "pk"))
        calls = due.filter(group=None).annotate(turn=turns)
        # Lists get a share, even if calls never end.
        self._fetched.extend(calls.order_by("turn", "next_attempt_at", "pk")[: FETCH_SIZE - 1])
        active = ProbeGroup.objects.active().filter(Exists(due.filter(group=OuterRef("pk"))))
        if accounts := list(active.order_by().values_list("account", flat=True).distinct()):
            account = random.choice(accounts)  # noqa: S311 - not a secret
            of_list = due.filter(group=active.filter(account=account).order_by("pk")[:1])
            number = FETCH_SIZE - len(self._fetched)
            self._fetched.extend(of_list.order_by("next_attempt_at", "pk")[:number])

    def _due(self) -> ProbeQuerySet:
        pace = self.pace
        return Probe.objects.due().filter(organization=pace.organization, egress=pace.egress)

    def end(self) -> None:
        self.ends_at = 0.0

    @transaction.atomic
    def release(self) -> None:
        # Checks that are queued later wake the organization.
        if not self.pace.lock_if_held():
            return
        due = self._due()
        is_due = due.filter(Q(group=None) | Q(group__in=ProbeGroup.objects.active())).exists()
        seconds = max(0.0, self.next_at - time.monotonic())
        next_at = timezone.now() + timedelta(seconds=seconds)
        # Each claim increments `attempts`, a small integer.
        self.pace.release(attempts=0, next_at=next_at, is_idle=not is_due)


class ProbeQueue:
    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self._answers: Queue = Queue()
        self._in_progress: set[int] = set()
        self._claims_at = self._gives_up_at = self._wakes_at = 0.0

    def wait(self, seconds: float) -> None:
        """Wait for an answer, or until the next conversation may start."""
        starts_at = min((turn.starts_at for turn in self.turns), default=math.inf)
        with suppress(Empty):
            self._answers.peek(timeout=min(seconds, max(0.001, starts_at - time.monotonic())))

    def step(self, *, is_stopping: bool) -> bool:
        """Return whether there was work."""
        has_worked = self._store_answers()
        if not is_stopping:
            now = time.monotonic()
            if now >= self._gives_up_at:
                self._gives_up_at = now + GIVE_UP_INTERVAL_SECONDS
                self._give_up()
            if now >= self._wakes_at:
                self._wakes_at = now + WAKE_INTERVAL_SECONDS
                MailHostPace.objects.wake_due()
                groups.end_refused()
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
        max_turns = TURNS_PER_WORKER * settings.PROBE_WORKERS
        # Claims lock rows, so they are worth a query before. They take time, in which turns end.
        while (
            len(self.turns) < max_turns
            and self._has_slot()
            and not (has_worked and self._answers.qsize())
            and MailHostPace.objects.due().exists()
        ):
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
                is_overdue = probe.ends_at is not None and probe.ends_at <= timezone.now()
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
                elif answer.question is None:
                    # The pace is for conversations.
                    turn.next_at = 0.0
            has_worked = True
        return has_worked


def store_answer(probe: Probe, answer: Answer, pace: MailHostPace | None) -> None:
    """Finish the check, or decide when to ask again. `pace` is None if no host was asked."""
    if pace is not None and answer.question is not None:
        conversations.labels(answer.reply_class or "none").inc()
        pace.record(answer.last_reply, refused_us=answer.refused_us)
    if pace is not None and answer.may_ask_again and probe.tries < len(RETRY_DELAYS):
        until = timezone.now() + RETRY_DELAYS[probe.tries]
        if probe.ends_at is None or until < probe.ends_at:
            postpone(probe=probe, finding=answer.finding, until=until)
            return
    if probe.group_id is None:
        finish(probe=probe, finding=answer.finding)
    else:
        groups.finish(probe, answer.finding)
    remember(answer)
