"""The audit log as an account's owners and admins see it: pages, filters, and a download."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from django.db.models import Q

from accounts import audit
from accounts.audit.models import AuditEntry
from runtime.csv_download import Row, escape_formula
from runtime.database import pagination
from runtime.database.pagination import Cursor, Page
from runtime.dates import midnight

if TYPE_CHECKING:
    from accounts.models import Account, User

# Ten times as far as in other lists: it is short, seldom looked at, and what is looked for in it is
# rare.
SCAN_LIMIT = 100_000

HEAD: Row = ["time (UTC)", "who", "what", "about", "network address", "action"]


@dataclass(frozen=True)
class AuditQuery:
    """What of the log is looked for; what is empty does not matter."""

    who: Q | None = None
    actions: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None

    @property
    def days(self) -> dict[str, object]:
        days: dict[str, object] = {}
        if self.since:
            days["at__gte"] = midnight(self.since)
        if self.until:
            days["at__lt"] = midnight(self.until) + timedelta(days=1)
        return days

    @property
    def others(self) -> list[Q]:
        actions = [Q(action__in=self.actions)] if self.actions else []
        return actions + ([self.who] if self.who else [])


def audit_page(
    account: "Account", wanted: AuditQuery, before: Cursor | None = None
) -> Page[AuditEntry]:
    walked = account.audit_entries.filter(**wanted.days).select_related("actor")
    return pagination.paginate(walked, wanted.others, before, stretch=SCAN_LIMIT)


def export(
    *, account: "Account", wanted: AuditQuery, words: str, actor: "User", ip: str | None = None
) -> Iterator[Row]:
    """Lines for a spreadsheet, the last one first, this export included."""
    audit.record(account, actor, "audit.exported", words, ip)
    return _lines(account, wanted)


def _lines(account: "Account", wanted: AuditQuery) -> Iterator[Row]:
    yield HEAD
    walked = account.audit_entries.filter(**wanted.days)
    for entry in pagination.iterate_all(walked, wanted.others):
        moment = f"{entry.at:%Y-%m-%d %H:%M:%S}"
        said = [escape_formula(text) for text in (entry.who, entry.words, entry.target)]
        yield [moment, *said, entry.shown_ip or "", entry.action]
