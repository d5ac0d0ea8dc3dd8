"""Write the request log: each request's key, address and outcome.

Nothing is written for an account whose log retention is 0 days.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from django.conf import settings
from django.utils import timezone

from accounts.models import Account
from apikeys.models import ApiKey
from apikeys.request import ApiHttpRequest
from runtime.database.raw_sql import BulkInsert
from runtime.database.write_behind import WriteBuffer
from runtime.logging.formatters import mask_secrets
from validation.addresses import address_hash, mask_address, pack_account_list, pack_checks
from validation.engine.verdicts.finding import CHECKS, Finding
from validation.models import LogEntry

Columns = dict[str, Any]
PATH = "/v1/validate"
BATCH_PATH = "/v1/validate/batch"


@dataclass(frozen=True)
class Caller:
    """Identifies the request to charge and log. `key` is None for the playground."""

    account: Account
    key: ApiKey | None
    request_id: str


class LoggedValidation(Protocol):
    """Describes what the request log reads of a validation."""

    id: str
    caller: Caller
    email: str
    finding: Finding
    is_sandbox: bool
    duration_ms: int

    @property
    def cost(self) -> int: ...


def bulk_insert_for(validations: Iterable[LoggedValidation]) -> BulkInsert:
    """Return the INSERT to run in the transaction that charges the validations."""
    return LogEntry.objects.bulk_insert(map(_row, _logged(validations)))


def inserts_for_batch(
    caller: Caller, batch_id: str, requests: Iterable[tuple[LoggedValidation, Columns]]
) -> list[BulkInsert]:
    """Do the same for a batch, with the columns that each validation shares with others."""
    if not caller.account.log_retention_days:
        return []
    rows = (columns | _own_columns(validation, columns) for validation, columns in requests)
    return [_bulk_insert_for_batch(caller, batch_id, rows)]


def _bulk_insert_for_batch(
    caller: Caller, batch_id: str, rows: Iterable[Columns], **shared: object
) -> BulkInsert:
    """Add the batch's columns. Rows have one request id, so their times must differ."""
    started = timezone.now()
    columns = {**_caller_columns(caller), "path": BATCH_PATH, "batch_id": batch_id, **shared}
    return LogEntry.objects.bulk_insert_sharing(
        columns,
        ({**row, "at": started + timedelta(microseconds=n)} for n, row in enumerate(rows)),
    )


def _logged(validations: Iterable[LoggedValidation]) -> Iterator[LoggedValidation]:
    return (
        validation for validation in validations if validation.caller.account.log_retention_days
    )


def _row(validation: LoggedValidation) -> Columns:
    columns = shared_columns(validation)
    return {
        **_caller_columns(validation.caller),
        "path": PATH,
        **columns,
        **_own_columns(validation, columns),
    }


def shared_columns(validation: LoggedValidation) -> Columns:
    """Return what is equal in the rows of a request's validations if their facts are."""
    finding = validation.finding
    return {
        "domain": finding.parts.domain if finding.parts else "",
        "verdict": finding.verdict,
        "reason": finding.reason,
        "score": finding.score,
        "checks": pack_checks(finding.checks, CHECKS) | pack_account_list(finding.account_list),
        "sandbox": validation.is_sandbox,
        "cost": validation.cost,
        "duration_ms": validation.duration_ms,
    }


def _own_columns(validation: LoggedValidation, columns: Columns) -> Columns:
    return {
        "result_id": validation.id,
        **_address_columns(validation.email, columns["domain"]),
    }


def write_replay(caller: Caller, email: str, result: dict[str, Any]) -> None:
    """Log a response that was replayed for an Idempotency-Key, at no cost."""
    if not caller.account.log_retention_days:
        return
    row = {
        **_caller_columns(caller),
        **_replay_columns(email, result),
        "path": PATH,
        "replayed": True,
        "duration_ms": 0,
    }
    LogEntry.objects.bulk_insert([row]).run()


def _replay_columns(email: str, result: dict[str, Any]) -> Columns:
    return {
        **_address_columns(email, result["domain"]),
        "domain": result["domain"] or "",
        "result_id": result["id"],
        "verdict": result["verdict"],
        "reason": result["reason"],
        "score": result["score"],
        # Replays of the previous release don't have it.
        "checks": pack_checks(result["checks"], CHECKS)
        | pack_account_list(result.get("account_list")),
        "sandbox": result["sandbox"],
    }


def write_batch_replay(caller: Caller, batch: dict[str, Any]) -> None:
    """Log the addresses of a batch whose response was replayed, at no cost."""
    if not caller.account.log_retention_days:
        return
    rows = (
        _replay_columns(result["email"], result)
        for result in batch["results"]
        if result["duplicate_of"] is None
    )
    _bulk_insert_for_batch(caller, batch["id"], rows, replayed=True, duration_ms=0).run()


def write_response(*, request: ApiHttpRequest, key: ApiKey, status: int, duration_ms: int) -> None:
    """Log a response to a valid key that isn't a validation. A hook.

    The row is buffered, because refusals and reads must cost little.
    """
    if not key.account.log_retention_days:
        return
    entry = {
        "account_id": key.account_id,
        "key_id": key.pk,
        "at": timezone.now(),
        "request_id": request.call.request_id,
        "status": status,
        "refusal": request.call.refusal,
        "sandbox": request.call.is_sandbox,
        # A client may put an API key into the URL, and the whole team can read the request log.
        "path": mask_secrets(request.path_info.replace("\0", ""))[:100],
        "duration_ms": duration_ms,
    }
    buffer.add(entry)
    if not settings.SERVES_WEB:
        buffer.flush()


buffer: WriteBuffer[dict[str, object]] = WriteBuffer(
    lambda entries: LogEntry.objects.bulk_insert(entries).run()
)


def _caller_columns(caller: Caller) -> Columns:
    return {
        "account_id": caller.account.pk,
        "key_id": caller.key and caller.key.pk,
        "request_id": caller.request_id,
        "status": 200,
    }


def _address_columns(email: str, domain: str | None) -> Columns:
    return {"address": mask_address(email, domain), "address_hash": address_hash(email)}
