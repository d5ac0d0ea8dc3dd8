"""What is known of the way mail to a domain takes. Pure."""

from dataclasses import dataclass, field
from typing import NamedTuple

_REST_ON_ABSENCE = {"domain_not_found", "no_mail_server", "unroutable_mail_server", "no_mx_record"}


class MailHost(NamedTuple):
    preference: int
    host: str


@dataclass(frozen=True, slots=True)
class Route:
    """None where the DNS could not tell."""

    domain_exists: bool | None = None
    accepts_mail: bool | None = None
    null_mx: bool | None = None
    # The reason code that the DNS gives for a verdict, if it gives any.
    problem: str | None = None
    hosts: tuple[MailHost, ...] = ()
    provider: str | None = None
    # a or aaaa: there is no MX record, and this record of the domain itself takes its place.
    fallback: str | None = None
    spf: str | None = None
    dmarc: str | None = None
    expires_at: float = 0.0
    # Whether a question had to be sent for it.
    went_out: bool = field(default=False, compare=False)
    # Whether the lookup needed more messages than its budget has.
    is_exhausted: bool = field(default=False, compare=False)
    # Whether there was no lookup, as the caller's earlier ones had used up too many budgets.
    is_refused: bool = field(default=False, compare=False)

    @property
    def rests_on_absence(self) -> bool:
        """Whether the verdict would be another one if the DNS left out records that exist."""
        return self.problem in _REST_ON_ABSENCE

    @property
    def rests_on_records(self) -> bool:
        """Whether the verdict would be another one if the DNS had made up records."""
        is_definite = self.accepts_mail is not None
        has_records = bool(self.hosts or self.fallback or self.null_mx)
        return is_definite and (has_records or self.problem == "unroutable_mail_server")

    @property
    def is_known(self) -> bool:
        """Whether the DNS said anything at all."""
        return self.domain_exists is not None
