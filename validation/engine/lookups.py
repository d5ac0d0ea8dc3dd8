"""Look up many domains at the same time, and again if they timed out through our own fault.

for domain, route in look_up_all(engine, domains, at_once=64): …
"""

from collections.abc import Iterator, Sequence

from validation.engine.check import Engine
from validation.engine.dns.mail_route import MailRoute
from validation.engine.dns.transport.event_loop import EventLoop

# With each further attempt, a quarter as many lookups run at the same time.
ATTEMPTS, FEWER = 3, 4
# A lookup that goes on later than this share of the resolver's time limit misses replies.
_MAX_LAG_SHARE = 1 / 12


def look_up_all(
    engine: Engine, domains: Sequence[str], *, at_once: int
) -> Iterator[tuple[str, MailRoute]]:
    """Yield each distinct domain and its route, in the order in which they become known.

    A timeout while this process lagged says nothing about the domain, so it is looked up again,
    with fewer lookups at the same time.
    """
    # A lookup would wait for another one of the same domain, and keep it from ending.
    domains = list(dict.fromkeys(domains))
    for attempt in range(ATTEMPTS):
        loop, is_last, doubtful = EventLoop(), attempt == ATTEMPTS - 1, []

        def look_up(domain: str, ignores_cache: bool = attempt > 0) -> tuple[str, MailRoute]:
            return domain, engine.look_up(domain, ignores_cache=ignores_cache)

        for domain, route in loop.map(look_up, domains, at_once=at_once):
            if route.problem == "dns_timeout" and not is_last:
                doubtful.append((domain, route))
            else:
                yield domain, route
        if loop.lag <= engine.resolver.seconds * _MAX_LAG_SHARE:
            yield from doubtful
            return
        domains, at_once = [domain for domain, _ in doubtful], max(1, at_once // FEWER)
