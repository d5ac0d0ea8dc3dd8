from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from django.db.models import Q

from accounts import audit
from accounts.audit.models import AuditEntry
from runtime.csv_download import Row, escape_formula
from runtime.database import pagination
from runtime.database.pagination import Cursor, Page
from runtime.dates import days_lookup

if TYPE_CHECKING:
    from accounts.models import Account, User

# Ten times the usual limit: audit logs are short, and matches rare.
SCAN_LIMIT = 100_000

HEADER: Row = ["time (UTC)", "who", "what", "about", "IP address", "action"]


@dataclass(frozen=True)
class AuditQuery:
    conditions: list[Q] = field(default_factory=list)
    since: date | None = None
    until: date | None = None


def audit_page(
    account: "Account", query: AuditQuery, before: Cursor | None = None
) -> Page[AuditEntry]:
    entries = account.audit_entries.filter(
        **days_lookup("at", query.since, query.until)
    ).select_related("actor")
    return pagination.paginate(entries, query.conditions, before, scan_limit=SCAN_LIMIT)


def suspension_reason(account: "Account") -> str:
    if account.suspended_at is None:
        return ""
    entry = account.audit_entries.filter(action="account.suspended").order_by("-pk").first()
    # Without a reason, the entry has the account's name.
    return entry.target if entry and entry.target != account.name else ""


def export(
    *, account: "Account", query: AuditQuery, description: str, actor: "User"
) -> Iterator[Row]:
    """Record the export and return its CSV rows, which include that entry."""
    audit.record(account, actor, "audit.exported", description)
    return _csv_rows(account, query)


def _csv_rows(account: "Account", query: AuditQuery) -> Iterator[Row]:
    yield HEADER
    entries = account.audit_entries.filter(**days_lookup("at", query.since, query.until))
    for entry in pagination.iterate_all(entries, query.conditions):
        time = f"{entry.at:%Y-%m-%d %H:%M:%S}"
        texts = [escape_formula(text) for text in (entry.who, entry.action_label, entry.target)]
        yield [time, *texts, entry.shown_ip or "", entry.action]
