"""Charge an account for a batch and write its request-log rows, in one transaction."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.utils import timezone

from apikeys.rest.responses import render
from credits.wallet.charges import (
    charge_all,
    charge_and_insert,
    refusal,
)
from runtime.database.raw_sql import OutcomeUnknown, atomic
from validation import lost_charges
from validation.engine.reasons import Verdict
from validation.ids import new_batch_id
from validation.models import Replay
from validation.request_log import writer
from validation.request_log.writer import Caller
from validation.settlement import Validation, ValidationResponse


@dataclass(eq=False, slots=True)
class Batch:
    """The findings of a batch, ready to be charged and recorded."""

    caller: Caller
    emails: Sequence[str]
    # One for each distinct address, in the order of their first occurrence.
    validations: list[Validation]
    duration_ms: int
    idempotency_key: str | None = None
    id: str = field(default_factory=new_batch_id)

    @property
    def cost(self) -> int:
        return sum(validation.cost for validation in self.validations)


def charge_and_record_batch(batch: Batch) -> ValidationResponse:
    """Commit the charge, the request-log rows and, with an Idempotency-Key, the replay.

    Raise InsufficientCredits or ReplayExists if nothing was charged, and OutcomeUnknown if the
    account may have been charged.
    """
    try:
        balances = _charge_and_insert(batch)
        if balances is not None:
            return _build_response(batch, balances)
        with atomic():
            return _write(batch)
    except OutcomeUnknown:
        # With an Idempotency-Key the results aren't lost: a retry gets the stored response.
        if batch.idempotency_key is None:
            _record_lost_charges(batch)
        raise


def _charge_and_insert(batch: Batch) -> list[int] | None:
    """Charge and record in one statement, which locks the wallet for no longer than that.

    Return None if nothing was charged because the batch needs a transaction of several statements.
    """
    metered = _metered(batch)
    if batch.idempotency_key is not None or not metered:
        return None
    rows = writer.bulk_insert_for_batch(batch.validations, batch.id)
    charged = charge_and_insert([validation.charge() for validation in metered], rows)
    return _balances_after(batch, charged)


def _record_lost_charges(batch: Batch) -> None:
    for validation in batch.validations:
        if validation.cost:
            lost_charges.record_lost_charge(batch.caller.account, validation.id, validation.cost)


def _write(batch: Batch) -> ValidationResponse:
    account, key = batch.caller.account, batch.idempotency_key
    if key is not None:
        Replay.objects.delete_expired(account, key)
    writer.bulk_insert_for_batch(batch.validations, batch.id).run()
    # As late as possible: this locks the wallet.
    response = _build_response(batch, _charge(batch))
    if key is not None:
        is_free = batch.cost == 0
        Replay.objects.store_batch(account, key, batch.emails, response.body, is_free=is_free)
    return response


def _charge(batch: Batch) -> list[int]:
    """Charge all or nothing, and return the balance after each validation."""
    metered = _metered(batch)
    charged = charge_all([validation.charge() for validation in metered]) if metered else []
    balances = _balances_after(batch, charged)
    if balances is None:
        raise refusal(batch.caller.account, required=batch.cost)
    return balances


def _metered(batch: Batch) -> list[Validation]:
    return [validation for validation in batch.validations if not validation.is_sandbox]


def _balances_after(batch: Batch, charged: Iterable[int | None]) -> list[int] | None:
    """Return the balance after each validation, or None if the metered ones were not charged."""
    balance: int | None = batch.caller.account.wallet.balance
    left = iter(charged)
    balances = []
    for validation in batch.validations:
        if not validation.is_sandbox:
            balance = next(left)
        if balance is None:
            return None
        balances.append(balance)
    return balances


def _build_response(batch: Batch, balances: list[int]) -> ValidationResponse:
    first: dict[str, int] = {}
    documents = {
        validation.email: validation.document(balance)
        for validation, balance in zip(batch.validations, balances, strict=True)
    }
    results = []
    for index, email in enumerate(batch.emails):
        duplicate_of = first.get(email)
        first.setdefault(email, index)
        results.append(_build_result(documents[email], duplicate_of, balances[-1]))
    document = {
        "id": batch.id,
        "created_at": timezone.now(),
        "results": results,
        "summary": _summarize(batch),
        "duration_ms": batch.duration_ms,
        "credits": {"charged": batch.cost, "remaining": balances[-1]},
    }
    return ValidationResponse(render(document), batch.cost, balances[-1])


def _build_result(
    document: dict[str, object], duplicate_of: int | None, balance: int
) -> dict[str, object]:
    result = {**document, "duplicate_of": duplicate_of}
    if duplicate_of is not None:
        result["credits"] = {"charged": 0, "remaining": balance}
    return result


def _summarize(batch: Batch) -> dict[str, int]:
    """Count distinct addresses by verdict, and duplicates apart, so the sum is the batch's size."""
    counts = Counter(validation.finding.verdict for validation in batch.validations)
    duplicates = len(batch.emails) - len(batch.validations)
    return {**{verdict.value: counts[verdict] for verdict in Verdict}, "duplicates": duplicates}
