import itertools
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from apikeys.models import ApiKey
from apikeys.request import ApiHttpRequest
from runtime.database.raw_sql import BulkInsert
from runtime.database.write_behind import WriteBuffer
from runtime.logging.formatters import mask_secrets
from validation.addresses import address_hash, mask_address
from validation.models import LogEntry
from validation.models.log_entries import pack_checks
from validation.validations import Caller, Validation

Columns = dict[str, Any]
PATH = "/v1/validate"
BATCH_PATH = "/v1/validate/batch"


def bulk_insert_for(
    validations: Iterable[Validation], *, path: str = PATH, batch_id: str = ""
) -> BulkInsert:
    logged = (each for each in validations if each.caller.account.log_retention_days)
    return LogEntry.objects.bulk_insert(
        {"at": at, "path": path, "batch_id": batch_id, **describe_validation(validation)}
        for at, validation in zip(_times(), logged, strict=False)
    )


def _times() -> Iterator[datetime]:
    """Yield a time per row: the rows of a batch share a request id, so their times must differ."""
    started = timezone.now()
    return (started + timedelta(microseconds=n) for n in itertools.count())


def describe_validation(validation: Validation) -> Columns:
    finding = validation.finding
    domain = finding.parts.domain if finding.parts else ""
    return {
        **_caller_columns(validation.caller),
        **_address_columns(validation.id, validation.email, domain),
        "verdict": finding.verdict,
        "reason": finding.reason,
        "score": finding.score,
        "checks": pack_checks(finding.checks, finding.account_list),
        "sandbox": validation.is_sandbox,
        "cost": validation.cost,
        "duration_ms": validation.duration_ms,
    }


def write_replay(
    caller: Caller, results: Iterable[dict[str, Any]], *, path: str = PATH, batch_id: str = ""
) -> None:
    if not caller.account.log_retention_days:
        return
    rows = (
        {
            **_caller_columns(caller),
            **_address_columns(result["id"], result["email"], result["domain"] or ""),
            "at": at,
            "path": path,
            "batch_id": batch_id,
            "verdict": result["verdict"],
            "reason": result["reason"],
            "score": result["score"],
            # Replays of the previous release don't have it.
            "checks": pack_checks(result["checks"], result.get("account_list")),
            "sandbox": result["sandbox"],
            "replayed": True,
            "duration_ms": 0,
        }
        for at, result in zip(_times(), results, strict=False)
    )
    LogEntry.objects.bulk_insert(rows).run()


def write_response(*, request: ApiHttpRequest, key: ApiKey, status: int, duration_ms: int) -> None:
    """Log a response that isn't a validation, in a buffer: refusals must cost little. A hook."""
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
        # The path may have an API key, and the whole team reads the log.
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
    return {
        "result_id": result_id,
        "address": mask_address(email, domain),
        "address_hash": address_hash(email),
        "domain": domain,
    }
