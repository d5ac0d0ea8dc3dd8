"""Probe resolvers with names whose replies are known.

Denial is NXDOMAIN for a top-level domain, or for two mail providers, as one may be down. It makes
verdicts doubtful if `MailRoute.depends_on_absence`.

Fabrication is records for a random name under .invalid (RFC 6761, 6.4). It makes verdicts doubtful
if `MailRoute.depends_on_records`.
"""

import secrets
from collections.abc import Callable, Mapping
from typing import NamedTuple

from engine.dns.messages import Outcome, ParsedReply, Query

TOP_LEVEL_DOMAINS = ("com", "net", "org")
PROVIDERS = (
    *("gmail.com", "outlook.com", "hotmail.com", "yahoo.com"),
    *("icloud.com", "aol.com", "gmx.net", "qq.com"),
)
_MIN_DENIED_PROVIDERS = 2

Replies = Mapping[Query, ParsedReply]


class Dishonesty(NamedTuple):
    description: str
    make_queries: Callable[[], list[Query]]
    # None if the replies prove nothing.
    is_proven_by: Callable[[Replies], bool | None]


def _existing_names() -> list[Query]:
    names = [(name, "A") for name in TOP_LEVEL_DOMAINS] + [(name, "MX") for name in PROVIDERS]
    return [Query(name, record_type) for name, record_type in names]


def _prove_denial(replies: Replies) -> bool | None:
    outcomes = {query.name: reply.outcome for query, reply in replies.items()}
    denied = {name for name, outcome in outcomes.items() if outcome is Outcome.NXDOMAIN}
    providers = [name for name in PROVIDERS if name in denied]
    if denied.intersection(TOP_LEVEL_DOMAINS) or len(providers) >= _MIN_DENIED_PROVIDERS:
        return True
    conclusive = {name for name, outcome in outcomes.items() if outcome is not Outcome.FAILURE}
    # The other providers can't prove denial.
    min_confirmed = len(PROVIDERS) - _MIN_DENIED_PROVIDERS + 1
    is_confirmed = len((conclusive - denied).intersection(PROVIDERS)) >= min_confirmed
    return False if is_confirmed and conclusive.issuperset(TOP_LEVEL_DOMAINS) else None


def _nonexistent_name() -> list[Query]:
    name = f"{secrets.token_hex(8)}.invalid"
    return [Query(name, "A"), Query(name, "MX")]


def _prove_fabrication(replies: Replies) -> bool | None:
    outcomes = [reply.outcome for reply in replies.values()]
    # An alias is fabricated, too.
    if Outcome.FOUND in outcomes or Outcome.ALIAS in outcomes:
        return True
    is_conclusive = len(outcomes) == 2 and Outcome.FAILURE not in outcomes
    return False if is_conclusive else None


DENIAL = Dishonesty("denies names that exist", _existing_names, _prove_denial)
FABRICATION = Dishonesty(
    "returns records for names that cannot exist", _nonexistent_name, _prove_fabrication
)
