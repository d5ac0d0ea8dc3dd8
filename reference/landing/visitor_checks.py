"""Check an address for a visitor of the landing page, who has no account.

Checks aren't stored. They are counted across all processes, before any DNS query, so that visitors
can't slow down the API. Without counters, checks are refused.
"""

import platform
import time
from collections.abc import Sequence
from typing import NamedTuple

from django.core.cache import caches
from django.utils.crypto import salted_hmac

from accounts.engine import get_engine
from apikeys.throttling.limits import query_counters
from engine import VISITOR, Finding, Verdict, sandbox_word
from runtime.http.client_ip import rate_limit_network
from runtime.metrics.client import Counter, initialize

_REFUSED = "refused"
_checks = Counter(
    "emailvalidation_visitor_checks",
    "Checks by visitors, of addresses and domains, by outcome: a verdict, or refused at a limit.",
    ("outcome",),
)
initialize(_checks, (*(verdict.value for verdict in Verdict), _REFUSED))


class Limit(NamedTuple):
    checks: int
    seconds: int
    cache: str


NETWORK_PER_MINUTE = Limit(5, 60, "counters")
NETWORK_PER_DAY = Limit(20, 86_400, "daily_counters")
MACHINE_PER_SECOND = Limit(2, 1, "counters")
# A /48 has 65,536 networks of /64, so wider networks share limits, each four times as high.
IPV6_PREFIXES, FACTOR = (64, 56, 48), 4


class TooManyChecks(Exception):
    def __init__(self, limit: Limit, retry_after: int) -> None:
        super().__init__(limit)
        self.limit = limit
        # In seconds.
        self.retry_after = retry_after


def check_for_visitor(*, email: str, ip: str) -> Finding:
    try:
        count_visit("visitor_checks", ip, [NETWORK_PER_MINUTE, NETWORK_PER_DAY])
        # Last, so that refused checks of one network don't use up everyone's limit.
        _consume("visitor_checks", MACHINE_PER_SECOND, platform.node())
    except TooManyChecks:
        _checks.labels(_REFUSED).inc()
        raise
    word = sandbox_word(email)
    if word is None:
        finding = get_engine().check(email, scope=VISITOR)
    else:
        finding = get_engine().simulate(email, word)
    _checks.labels(finding.verdict.value).inc()
    return finding


def count_visit(name: str, ip: str, limits: Sequence[Limit]) -> None:
    """Raise TooManyChecks if the visitor's network has reached a limit."""
    # An IPv4 address is the same network each time.
    networks = dict.fromkeys(rate_limit_network(ip, prefix) for prefix in IPV6_PREFIXES)
    for step, network in enumerate(networks):
        # Hash the network, because a day's count outlasts the visit.
        subject = salted_hmac(__name__, network, algorithm="sha256").hexdigest()
        for limit in limits:
            _consume(name, limit._replace(checks=limit.checks * FACTOR**step), subject)


def _consume(name: str, limit: Limit, subject: str) -> None:
    window, elapsed = divmod(int(time.time()), limit.seconds)
    key = f"{name}:{limit.seconds}:{subject}:{window}"
    count = query_counters(lambda: caches[limit.cache].incr(key))
    if count is None or count > limit.checks:
        raise TooManyChecks(limit, limit.seconds - elapsed)
