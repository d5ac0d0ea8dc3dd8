"""The request log: what was asked with which key, and how it was answered. Of an account that wants
none of it kept, nothing is written."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from django.conf import settings
from django.utils import timezone

from accounts.models import Account
from apikeys.models import ApiKey
from apikeys.request import ApiHttpRequest
from runtime.database.raw_sql import BulkInsert
from runtime.database.write_behind import WriteBuffer
from runtime.logging.formatters import mask_secrets
from validation.addresses import address_hash, masked, pack_checks
from validation.engine.verdict import CHECKS, Finding
from validation.models import LogEntry

PATH = "/v1/validate"


@dataclass(frozen=True)
class Caller:
    """Who asks: the key and its account, or somebody in the playground; and the request's id."""

    account: Account
    key: ApiKey | None
    request_id: str


class LoggedValidation(Protocol):
    """What the log wants to know of a validation."""

    id: str
    asker: Caller
    email: str
    finding: Finding
    is_sandbox: bool
    duration_ms: int

    @property
    def cost(self) -> int: ...


def bulk_insert_for(answered: Iterable[LoggedValidation]) -> BulkInsert:
    """For the transaction that charges them."""
    kept = (one for one in answered if one.asker.account.kept_log_days)
    return LogEntry.objects.insertion(map(_entry, kept))


def _entry(one: LoggedValidation) -> dict[str, Any]:
    finding = one.finding
    domain = finding.parts.domain if finding.parts else None
    return {
        **_of(one.asker, one.email, domain),
        "status": 200,
        "result_id": one.id,
        "verdict": finding.verdict,
        "reason": finding.reason,
        "score": finding.score,
        "checks": pack_checks(finding.checks, CHECKS),
        "sandbox": one.is_sandbox,
        "cost": one.cost,
        "duration_ms": one.duration_ms,
    }


def write_replay(asker: Caller, email: str, result: dict[str, Any]) -> None:
    """An answer that was given before, at no cost."""
    if not asker.account.kept_log_days:
        return
    LogEntry.objects.create(
        **_of(asker, email, result["domain"]),
        status=200,
        result_id=result["id"],
        verdict=result["verdict"],
        reason=result["reason"],
        score=result["score"],
        checks=pack_checks(result["checks"], CHECKS),
        sandbox=result["sandbox"],
        replayed=True,
        duration_ms=0,
    )


def write_other(*, request: ApiHttpRequest, key: ApiKey, status: int, duration_ms: int) -> None:
    """Seam: what was refused to a valid key, or answered without a validation. Nobody waits for it:
    what only reads, or is refused, must cost little."""
    if not key.account.kept_log_days:
        return
    entry = {
        "account_id": key.account_id,
        "key_id": key.pk,
        "at": timezone.now(),
        "request_id": request.id,
        "status": status,
        "refusal": request.refusal,
        "sandbox": request.is_sandbox,
        # Whoever puts a key into an address would read it here again, and so would their team.
        "path": mask_secrets(request.path_info.replace("\0", ""))[:100],
        "duration_ms": duration_ms,
    }
    others.add(entry)
    if not settings.SERVES_WEB:
        others.write()


others: WriteBuffer[dict[str, Any]] = WriteBuffer(
    lambda entries: LogEntry.objects.insertion(entries).run()
)


def _of(asker: Caller, email: str, domain: str | None) -> dict[str, Any]:
    return {
        "account_id": asker.account.pk,
        "key_id": asker.key and asker.key.pk,
        "request_id": asker.request_id,
        "path": PATH,
        "address": masked(email, domain),
        "address_hash": address_hash(email),
        "domain": domain or "",
    }
