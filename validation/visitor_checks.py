"""Check an address for a visitor of the landing page, who has no account.

A check is counted in the metrics and stored nowhere. The limits are exact across all processes and
apart from the API's. They are counted before any DNS message, so visitors can't slow down the API.
While the counters are unavailable, visitors' checks are refused.
"""

import platform
import time
from typing import NamedTuple

from django.core.cache import caches
from django.utils.crypto import salted_hmac

from accounts.engine import get_engine
from apikeys.throttling.limits import query_counters
from runtime.http.client_ip import rate_limit_network
from runtime.metrics.client import Counter, initialize
from validation.engine.sandbox import sandbox_finding, sandbox_word
from validation.engine.verdicts.finding import Finding
from validation.engine.verdicts.reasons import Verdict

_REFUSED = "refused"
_checks = Counter(
    "emailvalidation_visitor_checks",
    "Checks on the landing page, by outcome: a verdict, or refused at a limit.",
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


class TooManyChecks(Exception):
    def __init__(self, limit: Limit, retry_after: int) -> None:
        super().__init__(limit)
        self.limit = limit
        # Seconds, at least 1.
        self.retry_after = retry_after


def check_for_visitor(*, email: str, ip: str) -> Finding:
    """Check an address, or raise TooManyChecks. Sandbox addresses work as they do in the API."""
    _count_check(ip)
    word = sandbox_word(email)
    if word is None:
        finding = get_engine().check_for_visitor(email)
    else:
        finding = sandbox_finding(get_engine().check_without_dns(email), word)
    _checks.labels(finding.verdict.value).inc()
    return finding


def _count_check(ip: str) -> None:
    """Count a check, in the machine's limit only if the network's limits allow it."""
    # A digest, because the count of a day outlasts the visit.
    network = salted_hmac(__name__, rate_limit_network(ip), algorithm="sha256").hexdigest()
    _consume(NETWORK_PER_MINUTE, network)
    _consume(NETWORK_PER_DAY, network)
    _consume(MACHINE_PER_SECOND, platform.node())


def _consume(limit: Limit, subject: str) -> None:
    window, elapsed = divmod(int(time.time()), limit.seconds)
    key = f"visitor_checks:{limit.seconds}:{subject}:{window}"
    count = query_counters(lambda: caches[limit.cache].incr(key))
    if count is None or count > limit.checks:
        _checks.labels(_REFUSED).inc()
        raise TooManyChecks(limit, limit.seconds - elapsed)
