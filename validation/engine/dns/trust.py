"""Whether the resolvers are believed. One for a process, shared by all its threads.

Trust is that of all servers together, though each is asked: any of them may answer any question,
and a remembered answer does not say whose it is. One server that lies is enough to lose it.
"""

import logging
import math
import secrets
import threading
from collections.abc import Callable, Sequence

from validation.engine.dns.budget import MessageBudget
from validation.engine.dns.mail_route import Route
from validation.engine.dns.messages import (
    Outcome,
    Question,
    Reply,
    identifier_of,
    question_wire,
    read_reply,
)
from validation.engine.dns.sentinels import DENIES, INVENTS, Lie
from validation.engine.dns.transport.servers import Server
from validation.engine.dns.transport.sockets import Sockets

logger = logging.getLogger(__name__)

# A process asks about each lie at most so often, in seconds.
INTERVAL = 10.0
# Of more servers than these the first are asked, that the messages of one lookup suffice.
_MOST_SERVERS = 3


class _Probe:
    """The questions about one lie, sent once to each server. Silence is waited for, not retried."""

    def __init__(
        self,
        servers: Sequence[Server],
        questions: Sequence[Question],
        *,
        budget: MessageBudget,
        ends_at: float,
        clock: Callable[[], float],
    ) -> None:
        self.began_at, self.ends_at = clock(), ends_at
        self.replies: dict[Server, dict[Question, Reply]] = {}
        self._clock = clock
        self._attempts: dict[int, tuple[Server, Question]] = {}
        self._sockets = Sockets(budget, self._read, self._gone)
        for server in servers:
            if budget.remaining >= len(questions):
                self.replies[server] = {}
                for question in questions:
                    self._send(server, question)

    def collect(self, until: float) -> bool:
        """Waits for answers. Returns whether there is nothing left to wait for."""
        # What has arrived counts, however late it is by now.
        while self._attempts and self._sockets.listen(until - self._clock()):
            if self._clock() >= until:
                break
        return not self._attempts or until >= self.ends_at

    def close(self) -> None:
        self._sockets.close()

    def _send(self, server: Server, question: Question) -> None:
        identifier = secrets.randbits(16)
        while identifier in self._attempts:
            identifier = secrets.randbits(16)
        self._attempts[identifier] = server, question
        try:
            # Without options, which old servers do not understand: the answers are small.
            self._sockets.send(server, question_wire(question, identifier, has_options=False))
        except OSError:
            self._gone(server)

    def _gone(self, server: Server) -> None:
        self._attempts = {id_: one for id_, one in self._attempts.items() if one[0] != server}

    def _read(self, server: Server, packet: bytes) -> None:
        identifier = identifier_of(packet)
        asked_of, question = self._attempts.get(identifier or 0, (None, None))
        if identifier is None or question is None or asked_of != server:
            return
        reply = read_reply(packet, question)
        if reply is not None:
            del self._attempts[identifier]
            self.replies[server][question] = reply

    def judged(self) -> dict[Server, dict[Question, Reply]]:
        """Returns the replies that count. As in a lookup, those of a server that neither knows nor
        asks count only where all servers are like that."""
        strong = {
            server: {question: one for question, one in replies.items() if not one.is_weak}
            for server, replies in self.replies.items()
        }
        return strong if any(strong.values()) else self.replies


class LieDetector:
    """Looks for one lie, and remembers which servers tell it until they no longer do."""

    def __init__(
        self, lie: Lie, clock: Callable[[], float], changed: Callable[[float], None]
    ) -> None:
        """`changed` is called when trust is lost or regained, with the moment until which the
        servers are known to have been honest."""
        self.liars: set[Server] = set()
        # Whether a server answered the last time that it was asked.
        self.is_answered = False
        self._lie = lie
        self._clock = clock
        self._changed = changed
        self._asked_at = self._honest_at = -math.inf
        self._probe: _Probe | None = None
        self._lock = threading.Lock()

    def begin(
        self, servers: Callable[[], Sequence[Server]], budget: MessageBudget, ends_at: float
    ) -> None:
        """Asks the servers, unless they were asked a moment ago. Waits for nothing."""
        if self._clock() < self._asked_at + INTERVAL or not self._lock.acquire(blocking=False):
            return
        try:
            questions = self._lie.questions()
            if self._clock() < self._asked_at + INTERVAL or budget.remaining < len(questions):
                return
            if self._probe is not None:
                self._probe.close()
            self._asked_at = self._clock()
            self._probe = _Probe(
                servers(), questions, budget=budget, ends_at=ends_at, clock=self._clock
            )
        finally:
            self._lock.release()

    def settle(self, deadline: float) -> None:
        """Waits for the answers to questions under way. The lookup that sent them always comes
        here, and closes their sockets."""
        # A lookup that holds the lock is about to send the questions, or to judge the answers.
        if self._probe is None and not self._lock.locked():
            return
        with self._lock:
            probe = self._probe
            if probe is None:
                return
            if probe.collect(min(deadline, probe.ends_at)):
                self._probe = None
                probe.close()
                self._conclude(probe)

    def _conclude(self, probe: _Probe) -> None:
        """Silence proves nothing: then it stays as it was."""
        judged = probe.judged()
        verdicts = {server: self._lie.is_in(replies) for server, replies in judged.items()}
        outcomes = [one.outcome for replies in judged.values() for one in replies.values()]
        self.is_answered = any(outcome is not Outcome.FAILURE for outcome in outcomes)
        if all(lies is None for lies in verdicts.values()):
            return
        lied_before = bool(self.liars)
        self.liars = {server for server, lies in verdicts.items() if lies} | (
            self.liars - verdicts.keys()
        )
        if bool(self.liars) is not lied_before:
            self._log()
            self._changed(self._honest_at)
        if not self.liars:
            self._honest_at = probe.began_at

    def _log(self) -> None:
        if self.liars:
            servers = ", ".join(sorted(f"{one.host}:{one.port}" for one in self.liars))
            logger.error(
                "A resolver %s: %s. Verdicts that depend on it are unknown until it stops.",
                self._lie.description,
                servers,
            )
        else:
            logger.warning("The resolvers are trusted again: none %s.", self._lie.description)


class ResolverTrust:
    """Which verdicts the resolvers' answers are good for."""

    def __init__(self, servers: Callable[[], Sequence[Server]], clock: Callable[[], float]) -> None:
        """`servers` returns those to ask, the preferred ones first."""
        # How often trust was lost or regained. What was learned across a change is doubtful.
        self.changes = 0
        # Each is called with a moment: what was learned since then may be a lie.
        self.on_change: list[Callable[[float], None]] = []
        self._clock = clock
        self._servers = lambda: servers()[:_MOST_SERVERS]
        self._denial = LieDetector(DENIES, clock, self._note_change)
        self._invention = LieDetector(INVENTS, clock, self._note_change)

    @property
    def is_lost(self) -> bool:
        return bool(self._denial.liars or self._invention.liars)

    def begin(self, budget: MessageBudget, ends_at: float) -> None:
        """Called with a lookup's first questions, so that the answers cost it no round trip."""
        self._invention.begin(self._servers, budget, ends_at)

    def settle(self, route: Route, budget: MessageBudget, ends_at: float) -> None:
        """Called with a lookup's result. Before something is believed not to exist, the resolvers
        have to confirm what does."""
        if route.rests_on_absence:
            self._denial.begin(self._servers, budget, ends_at)
            self._denial.settle(ends_at)
        self._invention.settle(ends_at)

    def doubts(self, route: Route) -> bool:
        is_denial = route.rests_on_absence and self._denial.liars
        return bool(is_denial or (route.rests_on_records and self._invention.liars))

    def check(self, seconds: float) -> bool:
        """Whether the resolvers answer, and none of them lies; asks them unless that was done a
        moment ago."""
        budget, ends_at = MessageBudget(), self._clock() + seconds
        detectors = (self._denial, self._invention)
        for detector in detectors:
            detector.begin(self._servers, budget, ends_at)
        for detector in detectors:
            detector.settle(ends_at)
        return self._denial.is_answered and not self.is_lost

    def _note_change(self, honest_until: float) -> None:
        self.changes += 1
        for note in self.on_change:
            note(honest_until)
