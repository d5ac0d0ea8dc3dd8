"""Asks resolvers, remembers what they said. One for a process, shared by all its threads."""

import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

from validation.engine.dns.budget import MessageBudget
from validation.engine.dns.cache import Cache
from validation.engine.dns.counters import QueryCounters
from validation.engine.dns.messages import Outcome, Question, Reply
from validation.engine.dns.transport.exchange import Exchange
from validation.engine.dns.transport.servers import Server, parse_server, system_servers
from validation.engine.dns.trust import ResolverTrust

# So long an answer is remembered, whatever it says of itself, in seconds.
SHORTEST, LONGEST = 5.0, 3600.0
# A failure may be over in a moment.
FAILURE_HOLDS = 5.0
# A server that was silent is asked after the others, for so long.
_SILENCE_COUNTS = 30.0
CACHE_SIZE = 4_000
_TELLS_NOTHING = {Outcome.FAILURE, Outcome.TIMEOUT, Outcome.OVER_BUDGET}


class DnsReply(NamedTuple):
    outcome: Outcome
    records: tuple[Any, ...]
    expires_at: float

    @property
    def could_tell(self) -> bool:
        return self.outcome not in _TELLS_NOTHING


class Resolver:
    def __init__(
        self,
        servers: Sequence[str] | None = None,
        *,
        seconds: float = 3.0,
        cache_size: int = CACHE_SIZE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`servers` as in 127.0.0.1:5353 or [::1]:53, the system's when there are none; `seconds`
        for all questions of one call."""
        self.seconds = seconds
        self.clock = clock
        self.cache_size = cache_size
        self.cache: Cache[Question, DnsReply] = Cache(cache_size, clock)
        self.tally = QueryCounters()
        self._servers = [parse_server(text) for text in servers] if servers else None
        self._silent_at: dict[Server, float] = {}
        self.trust = ResolverTrust(self._answering_servers, clock)
        self.trust.on_change.append(self.cache.drop_since)

    def inquiry(
        self, owner_of: Callable[[str], str], deadline: float, budget: MessageBudget | None = None
    ) -> "Inquiry":
        """Opens the questions of one lookup. An answer counts towards the share of the cache that
        the owner of its name has."""
        return Inquiry(self, owner_of, deadline, budget or MessageBudget())

    @property
    def servers(self) -> list[Server]:
        """Those first that answered lately."""
        servers = self._servers or system_servers()
        if servers:
            self._servers = servers
        return sorted(servers, key=self._was_silent)

    def _answering_servers(self) -> list[Server]:
        servers = self.servers
        return [one for one in servers if not self._was_silent(one)] or servers

    def _was_silent(self, server: Server) -> bool:
        return self._silent_at.get(server, 0) > self.clock() - _SILENCE_COUNTS

    def take_counters(self) -> QueryCounters:
        """All since the last time."""
        taken, self.tally = self.tally, QueryCounters()
        return taken

    def note_silence(self, server: Server) -> None:
        self._silent_at[server] = self.clock()


class Inquiry:
    """The questions of one call, until one deadline. What is not answered then is a timeout."""

    def __init__(
        self,
        resolver: Resolver,
        owner_of: Callable[[str], str],
        deadline: float,
        budget: MessageBudget,
    ) -> None:
        self._resolver = resolver
        self._owner_of = owner_of
        self.budget = budget
        self._trust_changes = resolver.trust.changes
        self.began_at = resolver.clock()
        self.deadline = deadline
        self.answers: dict[Question, DnsReply] = {}
        self._asked_at: dict[Question, float] = {}
        # Called with each question that is answered; it may ask the next one.
        self.on_answer: Callable[[Question], None] = lambda _: None
        self._exchange: Exchange | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._exchange is not None:
            self._exchange.close()

    @property
    def is_consistent(self) -> bool:
        """Whether the resolvers were neither found to lie nor to have stopped it since it began."""
        return self._resolver.trust.changes == self._trust_changes

    @property
    def went_out(self) -> bool:
        return self._exchange is not None

    def ask(self, *questions: Question) -> None:
        for question in questions:
            known = self._resolver.cache.get(question)
            if known is not None:
                self.answers[question] = known
                self._resolver.tally.known_answers += 1
                self.on_answer(question)
            elif question not in self.answers and self._resolver.clock() < self.deadline:
                self._asked_at[question] = self._resolver.clock()
                self._resolver.tally.questions += 1
                self._open().send(question)

    def wait(
        self,
        questions: Iterable[Question],
        *,
        until: float | None = None,
        enough: Callable[[DnsReply], bool] | None = None,
    ) -> bool:
        """Until all are answered, or one answer is `enough`, which it says, or the time is over.
        What is not answered by the deadline is a timeout."""
        missing = set(questions)
        known = [self.answers[one] for one in missing & self.answers.keys()]
        missing -= self.answers.keys()
        ends_at = self.deadline if until is None else min(until, self.deadline)
        while not (enough and any(map(enough, known))):
            event = self._open().receive(ends_at) if missing else None
            if event is None:
                self._time_out(missing if until is None else ())
                return False
            answer = self._keep(*event)
            known = [answer] if event[0] in missing else []
            missing.discard(event[0])
        return True

    def part_of_what_is_left(self, part: float) -> float:
        now = self._resolver.clock()
        return now + max(0.0, self.deadline - now) * part

    def _open(self) -> Exchange:
        if self._exchange is None:
            self._exchange = Exchange(
                self._resolver.servers,
                budget=self.budget,
                seconds=self._resolver.seconds,
                deadline=self.deadline,
                clock=self._resolver.clock,
                is_silent=self._resolver.note_silence,
            )
        return self._exchange

    def _keep(self, question: Question, reply: Reply) -> DnsReply:
        now, tally = self._resolver.clock(), self._resolver.tally
        holds = FAILURE_HOLDS if self._resolver.trust.is_lost else _holds(reply)
        answer = DnsReply(reply.outcome, reply.records, now + holds)
        tally.answers[reply.outcome.value] += 1
        tally.seconds.append(now - self._asked_at[question])
        self.answers[question] = answer
        # That we did not ask to the end is no knowledge for the next lookup, nor is what came from
        # a resolver that turned out to lie.
        if reply.outcome is not Outcome.OVER_BUDGET and self.is_consistent:
            owner = self._owner_of(question.name)
            self._resolver.cache.put(question, answer, until=answer.expires_at, owner=owner)
        self.on_answer(question)
        return answer

    def _time_out(self, questions: Iterable[Question]) -> None:
        """Nothing that the next caller should know: the last of them were perhaps asked for a
        moment only."""
        expires_at = self._resolver.clock() + FAILURE_HOLDS
        for question in questions:
            self._resolver.tally.answers[Outcome.TIMEOUT.value] += 1
            self.answers[question] = DnsReply(Outcome.TIMEOUT, (), expires_at)


def _holds(reply: Reply) -> float:
    if reply.outcome is Outcome.FAILURE:
        return FAILURE_HOLDS
    return min(max(reply.ttl or 0, SHORTEST), LONGEST)
