"""The engine as this copy runs it: with its resolvers, its time, and the domains staff listed."""

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from runtime.database.pool import release_connection
from runtime.http.load_shedding import concurrency_limit
from runtime.metrics.registry import Counter, Gauge, Histogram, before_each_flush
from validation.engine.check import Engine
from validation.engine.dns.resolver import Resolver

_domains = Counter(
    "resolver_domains",
    "Domains that were looked up: known (still remembered) or searched.",
    ("lookup",),
    at_first=("known", "searched"),
)
_questions = Counter(
    "resolver_questions",
    "Questions for the DNS: known (still remembered) or asked.",
    ("lookup",),
    at_first=("known", "asked"),
)
_answers = Counter(
    "resolver_answers",
    "Resolver answers, by outcome. Failure, timeout, and over_budget make a verdict unknown.",
    ("outcome",),
    at_first=("found", "no_data", "no_name", "failure", "timeout", "over_budget"),
)
_seconds = Histogram(
    "resolver_answer_duration_seconds", "How long the resolvers took for an answer."
)
_lying = Gauge("resolver_lying", "Web workers that have found a resolver lying.")
_searching = Gauge("resolver_searches", "Domains that are being searched for.")
_waiting = Gauge("resolver_searches_waiting", "Searches that wait because too many are under way.")


@cache
def engine() -> Engine:
    """One for the process: what it learned of a domain serves every thread."""
    resolver = Resolver(
        settings.DNS_RESOLVERS,
        seconds=settings.DNS_TIMEOUT,
        cache_size=settings.DNS_CACHE_SIZE,
    )
    made = Engine(
        resolver,
        staff_domains=import_string(settings.STAFF_DOMAINS),
        before_waiting=_make_room,
    )
    before_each_flush.append(lambda: _measure(made))
    return made


def _measure(engine: Engine) -> None:
    """The engine knows nothing of metrics, and counts for itself."""
    tally = engine.resolver.take_counters()
    _domains.add("known", amount=tally.known_domains)
    _domains.add("searched", amount=tally.searches)
    _questions.add("known", amount=tally.known_answers)
    _questions.add("asked", amount=tally.questions)
    for outcome, count in tally.answers.items():
        _answers.add(outcome.replace(" ", "_"), amount=count)
    _seconds.add_all(tally.seconds)
    _lying.set(int(engine.resolver.trust.is_lost))
    _searching.set(engine.slots.searching)
    _waiting.set(engine.slots.waiting)


def resolver_answers(seconds: float) -> bool:
    """Whether the resolvers answer, and none of them lies. What they say counts for the engine."""
    return engine().resolver.trust.check(seconds)


def _make_room() -> None:
    """Whoever waits for the DNS holds no connection of the pool meanwhile, and keeps nobody out."""
    concurrency_limit.leave()
    release_connection()
