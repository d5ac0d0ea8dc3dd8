from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from engine.dns.providers import is_gateway

_ABSENCE_PROBLEMS = {"domain_not_found", "no_mail_server", "unroutable_mail_server", "no_mx_record"}
# Of a stored route, besides its hosts. `expires_at` belongs to one process's clock.
_STORED = (
    *("domain_exists", "accepts_mail", "null_mx", "problem"),
    *("provider", "fallback", "has_ipv4", "spf", "dmarc", "is_refused"),
)


class MailHost(NamedTuple):
    preference: int
    host: str


@dataclass(frozen=True, slots=True)
class MailRoute:
    """Hold what is known: a field is None without a conclusive reply."""

    domain_exists: bool | None = None
    accepts_mail: bool | None = None
    null_mx: bool | None = None
    problem: str | None = None
    hosts: tuple[MailHost, ...] = ()
    provider: str | None = None
    # "a" or "aaaa": without MX, the domain's address receives mail.
    fallback: str | None = None
    # Most senders can't reach hosts without public IPv4.
    has_ipv4: bool | None = None
    spf: str | None = None
    dmarc: str | None = None
    expires_at: float = 0.0
    sent_queries: bool = field(default=False, compare=False)
    is_exhausted: bool = field(default=False, compare=False)
    is_refused: bool = field(default=False, compare=False)

    @property
    def is_gateway(self) -> bool | None:
        if self.provider is not None:
            return is_gateway(self.provider)
        return False if self.fallback else None

    @property
    def depends_on_absence(self) -> bool:
        return self.problem in _ABSENCE_PROBLEMS

    @property
    def depends_on_records(self) -> bool:
        is_definite = self.accepts_mail is not None
        has_records = bool(self.hosts or self.fallback or self.null_mx)
        return is_definite and (has_records or self.problem == "unroutable_mail_server")

    @property
    def is_known(self) -> bool:
        return self.domain_exists is not None


NO_ROUTE = MailRoute()


def dump_route(route: MailRoute) -> str:
    stored: dict[str, Any] = {
        name: value
        for name in _STORED
        if (value := getattr(route, name)) != getattr(NO_ROUTE, name)
    }
    if route.hosts:
        stored["hosts"] = [list(mail_host) for mail_host in route.hosts]
    return orjson.dumps(stored).decode()


def load_route(text: str) -> MailRoute:
    """Another release may have stored the route with other fields."""
    stored = orjson.loads(text)
    hosts = tuple(MailHost(*mail_host) for mail_host in stored.get("hosts", ()))
    fields = {name: stored[name] for name in _STORED if name in stored}
    return MailRoute(**fields, hosts=hosts)
