"""Write the request log: each request's key, address and outcome.

Nothing is written for an account whose log retention is 0 days.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
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
_REPLAYED: Columns = {"replayed": True, "duration_ms": 0}


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
    caller: Caller,
    batch_id: str,
    validations: Iterable[tuple[LoggedValidation, int]],
    kinds: Mapping[int, Columns],
) -> list[BulkInsert]:
    """Do the same for a batch. Each validation comes with its key in `kinds`.

    `kinds` has the `shared_columns` of each kind.
    """
    if not caller.account.log_retention_days:
        return []
    columns = {**_caller_columns(caller), "path": BATCH_PATH, "batch_id": batch_id}
    shared = {number: columns | kind for number, kind in kinds.items()}
    rows = (
        (at, *_own_columns(validation).values(), kind)
        for at, (validation, kind) in zip(_times(), validations, strict=False)
    )
    return [LogEntry.objects.bulk_insert_sharing(shared, rows)]


def _times() -> Iterator[datetime]:
    """Yield a time for each row of a batch. They share a request id, so their times must differ."""
    started = timezone.now()
    return (started + timedelta(microseconds=n) for n in itertools.count())


def _logged(validations: Iterable[LoggedValidation]) -> Iterator[LoggedValidation]:
    return (
        validation for validation in validations if validation.caller.account.log_retention_days
    )


def _row(validation: LoggedValidation) -> Columns:
    return {
        **_caller_columns(validation.caller),
        "path": PATH,
        **shared_columns(validation),
        **_own_columns(validation),
    }


def shared_columns(validation: LoggedValidation) -> Columns:
    """Return what is equal in the rows of a request's validations if their facts are."""
    finding = validation.finding
    return {
        "verdict": finding.verdict,
        "reason": finding.reason,
        "score": finding.score,
        "checks": pack_checks(finding.checks, CHECKS) | pack_account_list(finding.account_list),
        "sandbox": validation.is_sandbox,
        "cost": validation.cost,
        "duration_ms": validation.duration_ms,
    }


def _own_columns(validation: LoggedValidation) -> Columns:
    parts = validation.finding.parts
    return _address_columns(validation.id, validation.email, parts.domain if parts else "")


def write_replay(caller: Caller, email: str, result: dict[str, Any]) -> None:
    """Log a response that was replayed for an Idempotency-Key, at no cost."""
    if not caller.account.log_retention_days:
        return
    row = {
        **_caller_columns(caller),
        **_replay_columns(email, result),
        "path": PATH,
        **_REPLAYED,
    }
    LogEntry.objects.bulk_insert([row]).run()


def _replay_columns(email: str, result: dict[str, Any]) -> Columns:
    return {
        **_address_columns(result["id"], email, result["domain"] or ""),
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
    columns = {**_caller_columns(caller), "path": BATCH_PATH, "batch_id": batch["id"]}
    first = (result for result in batch["results"] if result["duplicate_of"] is None)
    entries = (
        {**columns, **_replay_columns(result["email"], result), "at": at, **_REPLAYED}
        for at, result in zip(_times(), first, strict=False)
    )
    LogEntry.objects.bulk_insert(entries).run()


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


def _address_columns(result_id: str, email: str, domain: str) -> Columns:
    """Return the values of OWN_COLUMNS after the first, in their order."""
    return {
        "result_id": result_id,
        "address": mask_address(email, domain),
        "address_hash": address_hash(email),
        "domain": domain,
    }
