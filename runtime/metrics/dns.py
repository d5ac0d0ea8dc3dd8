from engine import Engine
from runtime.metrics.client import DURATION_BUCKETS, Counter, Histogram, SumGauge, initialize

_domain_lookups = Counter(
    "emailvalidation_resolver_domains",
    "Domain lookups: known (served from the cache) or searched.",
    ("lookup",),
)
initialize(_domain_lookups, ("known", "searched"))
_dns_queries = Counter(
    "emailvalidation_resolver_questions",
    "DNS queries: known (served from the cache) or asked.",
    ("lookup",),
)
initialize(_dns_queries, ("known", "asked"))
_dns_replies = Counter(
    "emailvalidation_resolver_answers",
    "DNS replies by outcome. Failure, timeout, and over_budget make a verdict unknown.",
    ("outcome",),
)
initialize(_dns_replies, ("found", "no_data", "no_name", "failure", "timeout", "over_budget"))
_reply_seconds = Histogram(
    "emailvalidation_resolver_answer_duration_seconds",
    "Time until a resolver replied.",
    buckets=DURATION_BUCKETS,
)
_forging_resolvers = SumGauge(
    "emailvalidation_resolver_untrustworthy", "Web workers that caught a resolver forging replies."
)
_active_lookups = SumGauge("emailvalidation_resolver_searches", "Domain searches in progress.")
_waiting_lookups = SumGauge(
    "emailvalidation_resolver_searches_waiting", "Domain searches waiting for a free slot."
)


def export_counters(engine: Engine) -> None:
    counters = engine.resolver.take_counters()
    _domain_lookups.labels("known").inc(counters.cached_domains)
    _domain_lookups.labels("searched").inc(counters.lookups)
    _dns_queries.labels("known").inc(counters.cached_replies)
    _dns_queries.labels("asked").inc(counters.queries)
    for outcome, count in counters.replies.items():
        _dns_replies.labels(outcome.replace(" ", "_")).inc(count)
    for seconds in counters.seconds:
        _reply_seconds.observe(seconds)
    _forging_resolvers.set(int(engine.resolver.trust.is_lost))
    _active_lookups.set(engine.slots.active)
    _waiting_lookups.set(engine.slots.waiting)
