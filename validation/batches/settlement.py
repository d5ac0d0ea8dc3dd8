"""Charge an account for a batch and store its requests and results, in one transaction."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import accumulate

import orjson
from django.db import connection
from django.utils import timezone

from apikeys.rest.responses import render
from credits.wallet.charges import (
    Charge,
    charge_all,
    charge_and_insert,
    refusal,
)
from runtime.database.raw_sql import BulkInsert, OutcomeUnknown, atomic
from runtime.http import fairness
from runtime.tracing import traced
from validation.batches.kinds import BatchResult, describe_results
from validation.charging import lost_charges
from validation.charging.settlement import Validation, ValidationResponse
from validation.engine.verdicts.reasons import Verdict
from validation.ids import new_batch_id
from validation.models import Replay
from validation.request_log import writer
from validation.request_log.writer import Caller
from validation.results import stored_results


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
    # One for each validation.
    results: list[BatchResult] = field(default_factory=list)
    cost: int = 0

    def describe(self) -> None:
        self.results = list(_paced(describe_results(self.validations)))
        self.cost = sum(result.kind.cost for result in self.results)


@traced("charge", lambda response: {"emailvalidation.credits": response.cost})
def charge_and_record_batch(batch: Batch) -> ValidationResponse:
    """Commit the charge, the request-log rows and, with an Idempotency-Key, the replay.

    Raise InsufficientCredits, KeyCreditLimitReached or ReplayExists if nothing was charged, and
    OutcomeUnknown if the account may have been charged.
    """
    # Before the transaction, which should be short, and holds a lock.
    with fairness.turn():
        batch.describe()
        rows = _build_rows(batch)
    try:
        with _turn_to_write():
            balances = _charge_and_insert(batch, rows)
            if balances is None:
                with atomic():
                    return _write(batch, rows)
    except OutcomeUnknown:
        # With an Idempotency-Key the results aren't lost: a retry gets the stored response.
        if batch.idempotency_key is None:
            _record_lost_charges(batch)
        raise
    return _build_response(batch, balances)


def _turn_to_write() -> AbstractContextManager[None]:
    """Return a turn on SQLite, where the worker computes for as long as it writes.

    Otherwise, the writes of several batches would follow one another without a rest.
    """
    return fairness.turn() if connection.vendor == "sqlite" else nullcontext()


def _build_rows(batch: Batch) -> list[BulkInsert]:
    requests = ((result.validation, result.kind.number) for result in _paced(batch.results))
    kinds = {result.kind.number: result.kind.columns for result in batch.results}
    stored = ((result.json, result.kind.cost) for result in batch.results)
    return [
        *writer.inserts_for_batch(batch.caller, batch.id, requests, kinds),
        *stored_results.inserts_for_batch(batch.caller.account, batch.id, stored),
    ]


def _paced(results: Iterable[BatchResult]) -> Iterator[BatchResult]:
    for result in results:
        yield result
        fairness.let_others_run()


def _charge_and_insert(batch: Batch, rows: list[BulkInsert]) -> list[int] | None:
    """Charge and record in one statement, which locks the wallet for no longer than that.

    Return None if nothing was charged because the batch needs a transaction of several statements.
    """
    charges, key = _charges(batch), batch.caller.key
    has_limit = key is not None and key.credits_per_month is not None
    if batch.idempotency_key is not None or has_limit or not charges:
        return None
    # One account's charges: there is no other to keep waiting.
    final_balance = charge_and_insert(charges, *rows, skip_locked=False)[-1]
    return None if final_balance is None else _balances_after(batch, final_balance)


def _record_lost_charges(batch: Batch) -> None:
    for validation, kind, _ in batch.results:
        if kind.cost:
            lost_charges.record_lost_charge(batch.caller.account, validation.id, kind.cost)


def _write(batch: Batch, rows: list[BulkInsert]) -> ValidationResponse:
    account, key = batch.caller.account, batch.idempotency_key
    if key is not None:
        Replay.objects.delete_expired(account, key)
    for each in rows:
        each.run()
    # As late as possible: this locks the wallet.
    response = _build_response(batch, _charge(batch))
    if key is not None:
        is_free = batch.cost == 0
        Replay.objects.store_batch(account, key, batch.emails, response.body, is_free=is_free)
    return response


def _charge(batch: Batch) -> list[int]:
    """Charge all or nothing, and return the balance after each result."""
    account, charges = batch.caller.account, _charges(batch)
    if not charges:
        return _balances_after(batch, account.wallet.balance)
    final_balance = charge_all(charges)[-1]
    if final_balance is None:
        raise refusal(account, required=batch.cost)
    return _balances_after(batch, final_balance)


def _charges(batch: Batch) -> list[Charge]:
    """Return a charge for each verdict, by which usage is counted. The sandbox isn't charged."""
    costs: dict[Verdict, list[int]] = {}
    for _, kind, _ in batch.results:
        if not kind.is_sandbox:
            costs.setdefault(kind.verdict, []).append(kind.cost)
    caller, duration_ms = batch.caller, batch.validations[0].duration_ms
    return [
        Charge(caller.account, caller.key, verdict, sum(each), duration_ms, len(each))
        for verdict, each in costs.items()
    ]


def _balances_after(batch: Batch, final_balance: int) -> list[int]:
    """Return the balance after each result, as if charged one after the other."""
    costs = (result.kind.cost for result in batch.results)
    return [final_balance + batch.cost - charged for charged in accumulate(costs)]


def _build_response(batch: Batch, balances: list[int]) -> ValidationResponse:
    document = {
        "id": batch.id,
        "created_at": timezone.now(),
        "results": orjson.Fragment(b"[%b]" % b",".join(_render_results(batch, balances))),
        "summary": _summarize(batch),
        "duration_ms": batch.duration_ms,
        "credits": {"charged": batch.cost, "remaining": balances[-1]},
    }
    return ValidationResponse(render(document), batch.cost, balances[-1])


def _render_results(batch: Batch, balances: list[int]) -> Iterator[bytes]:
    """Return the JSON of each result, in the order of the addresses."""
    charged = {
        result.validation.email: (result, balance)
        for result, balance in zip(batch.results, balances, strict=True)
    }
    first: dict[str, int] = {}
    for index, email in enumerate(batch.emails):
        result, balance = charged[email]
        duplicate_of = first.setdefault(email, index)
        if duplicate_of == index:
            yield _render_result(result, result.kind.cost, balance, b"null")
        else:
            yield _render_result(result, 0, balances[-1], b"%d" % duplicate_of)


def _render_result(result: BatchResult, charged: int, remaining: int, duplicate_of: bytes) -> bytes:
    """Add to a result what is known once the batch is charged."""
    return b'%b,"credits":{"charged":%d,"remaining":%d},"duplicate_of":%b}' % (
        *(result.json, charged, remaining, duplicate_of),
    )


def _summarize(batch: Batch) -> dict[str, int]:
    """Count distinct addresses by verdict, and duplicates apart, so the sum is the batch's size."""
    counts = Counter(result.kind.verdict for result in batch.results)
    duplicates = len(batch.emails) - len(batch.validations)
    return {**{verdict.value: counts[verdict] for verdict in Verdict}, "duplicates": duplicates}
