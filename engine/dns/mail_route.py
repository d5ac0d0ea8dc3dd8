from dataclasses import dataclass, field
from typing import NamedTuple

from engine.dns.providers import is_gateway

_ABSENCE_PROBLEMS = {"domain_not_found", "no_mail_server", "unroutable_mail_server", "no_mx_record"}


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
