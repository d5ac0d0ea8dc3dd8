"""Names whose answer is known beforehand, and what a resolver's answers to them reveal. Pure.

Two lies matter, and each makes other verdicts doubtful (`Route.rests_on_absence` and
`Route.rests_on_records` say which):

- A resolver that denies says NXDOMAIN for a top-level domain, or for two of eight mail providers.
  What it says does not exist may exist: `domain_not_found`, `no_mail_server`,
  `unroutable_mail_server` and `no_mx_record` are doubtful. The records it returns are not.
- A resolver that invents has an address or a mail host for a random name under .invalid, which
  never exists (RFC 6761, 6.4). Every verdict that rests on a record is doubtful: all but
  `domain_not_found`, and `no_mail_server` for a domain that names no mail host.

A single failing name proves nothing: it may be an outage of that provider's own servers.
"""

import secrets
from collections.abc import Callable, Mapping
from typing import NamedTuple

from validation.engine.dns.messages import Outcome, Question, Reply

TOP_LEVEL_DOMAINS = ("com", "net", "org")
PROVIDERS = (
    *("gmail.com", "outlook.com", "hotmail.com", "yahoo.com"),
    *("icloud.com", "aol.com", "gmx.net", "qq.com"),
)
_DENIED_PROVIDERS_PROVE = 2

Replies = Mapping[Question, Reply]


class Lie(NamedTuple):
    description: str
    questions: Callable[[], list[Question]]
    # None where the replies prove neither the lie nor its absence.
    is_in: Callable[[Replies], bool | None]


def _known_names() -> list[Question]:
    names = [(name, "A") for name in TOP_LEVEL_DOMAINS] + [(name, "MX") for name in PROVIDERS]
    return [Question(*one) for one in names]


def _denies(replies: Replies) -> bool | None:
    outcomes = {question.name: reply.outcome for question, reply in replies.items()}
    denied = {name for name, outcome in outcomes.items() if outcome is Outcome.NO_NAME}
    providers = [name for name in PROVIDERS if name in denied]
    if denied.intersection(TOP_LEVEL_DOMAINS) or len(providers) >= _DENIED_PROVIDERS_PROVE:
        return True
    confirmed = {name for name, outcome in outcomes.items() if outcome is not Outcome.FAILURE}
    # As many as it takes to know that no second one is denied.
    enough = len(PROVIDERS) - _DENIED_PROVIDERS_PROVE + 1
    is_confirmed = len((confirmed - denied).intersection(PROVIDERS)) >= enough
    return False if is_confirmed and confirmed.issuperset(TOP_LEVEL_DOMAINS) else None


def _impossible_name() -> list[Question]:
    name = f"{secrets.token_hex(8)}.invalid"
    return [Question(name, "A"), Question(name, "MX")]


def _invents(replies: Replies) -> bool | None:
    outcomes = [reply.outcome for reply in replies.values()]
    # An alias is an answer as well, wherever it leads.
    if Outcome.FOUND in outcomes or Outcome.ALIAS in outcomes:
        return True
    is_answered = len(outcomes) == 2 and Outcome.FAILURE not in outcomes
    return False if is_answered else None


DENIES = Lie("denies names that exist", _known_names, _denies)
INVENTS = Lie("returns records for names that cannot exist", _impossible_name, _invents)
