"""What the DNS says about mail delivery to a domain. Pure."""

from dataclasses import dataclass, field
from typing import NamedTuple

from validation.engine.dns.providers import is_gateway

_ABSENCE_PROBLEMS = {"domain_not_found", "no_mail_server", "unroutable_mail_server", "no_mx_record"}


class MailHost(NamedTuple):
    preference: int
    host: str


@dataclass(frozen=True, slots=True)
class MailRoute:
    """A field is None where the DNS gave no conclusive reply."""

    domain_exists: bool | None = None
    accepts_mail: bool | None = None
    null_mx: bool | None = None
    # The reason code that the DNS contributes to the verdict, if any.
    problem: str | None = None
    hosts: tuple[MailHost, ...] = ()
    provider: str | None = None
    # "a" or "aaaa": without MX records, mail is delivered to this record of the domain itself.
    fallback: str | None = None
    # Whether any mail host has a public IPv4 address. Most senders can't reach one that has none.
    has_ipv4: bool | None = None
    spf: str | None = None
    dmarc: str | None = None
    expires_at: float = 0.0
    # Whether the lookup sent any query.
    sent_queries: bool = field(default=False, compare=False)
    # Whether the lookup needed more messages than its budget allows.
    is_exhausted: bool = field(default=False, compare=False)
    # Whether the lookup was refused because the caller's earlier ones exhausted too many budgets.
    is_refused: bool = field(default=False, compare=False)

    @property
    def is_gateway(self) -> bool | None:
        """Whether a security gateway receives the mail, in front of the server with the mailboxes.

        None if the domain has no known mail host.
        """
        if self.provider is not None:
            return is_gateway(self.provider)
        return False if self.fallback else None

    @property
    def depends_on_absence(self) -> bool:
        """Whether the verdict would change if the DNS had left out existing records."""
        return self.problem in _ABSENCE_PROBLEMS

    @property
    def depends_on_records(self) -> bool:
        """Whether the verdict would change if the DNS had fabricated records."""
        is_definite = self.accepts_mail is not None
        has_records = bool(self.hosts or self.fallback or self.null_mx)
        return is_definite and (has_records or self.problem == "unroutable_mail_server")

    @property
    def is_known(self) -> bool:
        """Whether the DNS gave any information about the domain."""
        return self.domain_exists is not None
