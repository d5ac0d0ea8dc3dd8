"""The engine as this copy runs it: with its resolvers, its time, and the domains staff listed."""

from functools import cache

from django.conf import settings
from django.db import connection
from django.utils.module_loading import import_string

from accounts.admission import admission
from validation.engine.check import Engine
from validation.engine.dns.messages import Question
from validation.engine.dns.resolver import Resolver

# Known for as long as there are mail addresses, and to every resolver.
_ASKED_FOR = Question("com", "A")


@cache
def engine() -> Engine:
    """One for the process: what it learned of a domain serves every thread."""
    resolver = Resolver(
        settings.DNS_RESOLVERS,
        seconds=settings.DNS_TIMEOUT,
        cache_size=settings.DNS_CACHE_SIZE,
    )
    return Engine(
        resolver,
        staff_domains=import_string(settings.STAFF_DOMAINS),
        before_waiting=_make_room,
    )


def resolver_answers(seconds: float) -> bool:
    """Whether the DNS can be asked, found out by asking; the engine learns nothing from it."""
    resolver = Resolver(settings.DNS_RESOLVERS, seconds=seconds)
    with resolver.inquiry(str, resolver.clock() + seconds) as inquiry:
        inquiry.ask(_ASKED_FOR)
        inquiry.wait([_ASKED_FOR])
        return inquiry.answers[_ASKED_FOR].could_tell


def _make_room() -> None:
    """Whoever waits for the DNS holds no connection of the pool meanwhile, and keeps nobody out."""
    admission.leave()
    if connection.settings_dict["OPTIONS"].get("pool") and not connection.in_atomic_block:
        connection.close()
