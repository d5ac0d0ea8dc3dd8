"""Charge the account for a finding, log the request and store the result, in one transaction.

Concurrent requests share one. A validation that can't share it waits in its account's queue, so no
account delays the others: the balance doesn't cover all, another transaction holds the wallet, the
key has a credit limit, or there is an Idempotency-Key.
"""

from collections.abc import Callable, Sequence
from functools import cache
from uuid import UUID
from weakref import WeakValueDictionary

from django.db import DatabaseError, IntegrityError, OperationalError

from credits.wallet.charges import (
    Charge,
    InsufficientCredits,
    charge_account,
    charge_and_insert,
    charges_refused,
)
from credits.wallet.key_limits import KeyCreditLimitReached
from engine import VERDICT_BY_REASON
from runtime.database.coalescing import Coalescer, WorkInterrupted
from runtime.database.raw_sql import UNAVAILABLE, BulkInsert, OutcomeUnknown, atomic
from runtime.metrics.client import Counter
from runtime.tracing import traced
from validation.addresses import address_hash
from validation.charging import lost_charges
from validation.models import Check, Replay, ReplayExists
from validation.models.replays import digest
from validation.request_log import writer
from validation.results import stored_results
from validation.results.replays import store_replay
from validation.validations import Caller, Validation, ValidationResponse

validations = Counter(
    "emailvalidation_validations",
    "Completed validations, by verdict, reason and source: api, batch, playground or sandbox.",
    ("verdict", "reason", "source"),
)
_validations_by = cache(validations.labels)


def count_validations(reason: str, source: str, number: int = 1) -> None:
    _validations_by(VERDICT_BY_REASON[reason], reason, source).inc(number)


def digest_of_request(email: str, check: Check) -> UUID:
    """Return another digest for another check: it's another request."""
    return digest("mailbox" if check == Check.MAILBOX else "address", email)


def charge_and_store(
    caller: Caller,
    charges: Sequence[Charge],
    inserts: Sequence[BulkInsert],
    replay: Replay | None = None,
    render_replay: Callable[[int], bytes] | None = None,
) -> int:
    """Charge all or nothing, insert the rows and return the balance.

    `render_replay` returns the response to store, if it depends on the balance.
    """
    if charges and render_replay is None and not _has_limited_key(caller):
        # Locks the wallet for one statement only.
        rows = [*inserts, replay.insert_with_charge()] if replay else inserts
        try:
            balance = charge_and_insert(charges, *rows, skip_locked=False)[-1]
        except IntegrityError:
            balance = None
        if balance is not None:
            return balance
    # Unlike one statement, this raises why a charge is refused, and queues emails.
    try:
        with atomic():
            for insert in inserts:
                insert.run()
            # Last, because it locks the wallet until the transaction ends.
            balance = charge_account(*charges) if charges else caller.account.wallet.balance
            if replay and render_replay:
                store_replay(replay, render_replay(balance))
            elif replay:
                replay.balance = balance
                replay.store()
    except InsufficientCredits:
        charges_refused.inc()
        raise
    return balance


def _has_limited_key(caller: Caller) -> bool:
    return caller.key is not None and caller.key.credits_per_month is not None


@traced("charge", lambda response: {"emailvalidation.credits": response.cost})
def charge_and_record(validation: Validation) -> ValidationResponse:
    """Commit the charge and all rows, or raise OutcomeUnknown if they may have been committed.

    Other errors in UNAVAILABLE mean that the account wasn't charged.
    """
    account = validation.caller.account
    try:
        if validation.can_be_grouped and not _has_limited_key(validation.caller):
            balance = _coalescer.submit(validation)
            if balance is not None:
                return validation.build_response(balance)
        # A queue exists only while a caller references it.
        queue = _account_queues.get(account.pk) or _account_queues.setdefault(
            account.pk, Coalescer(_process_account_queue, may_wait=True)
        )
        outcome = queue.submit(validation)
        if isinstance(outcome, Exception):
            raise outcome
    except (*UNAVAILABLE, WorkInterrupted) as error:
        is_in_doubt = validation.is_in_doubt or isinstance(error, WorkInterrupted)
        if not (is_in_doubt and validation.cost):
            raise
        # With an Idempotency-Key, a retry gets the stored response.
        if validation.idempotency_key is None:
            lost_charges.record_lost_charge(account, validation.id, validation.cost)
        message = "The connection was lost while a charge was being committed."
        raise OutcomeUnknown(message) from error
    return outcome


def _mark_in_doubt(validations: list[Validation]) -> OperationalError:
    """Mark this transaction's validations: the error also reaches callers that weren't charged."""
    for validation in validations:
        validation.is_in_doubt = True
    return OperationalError("The connection was lost during COMMIT.")


def _charge_group(validations: list[Validation]) -> list[int | None]:
    """Return balances, or None for validations that must go to their account's queue."""
    try:
        charges = [charge for validation in validations for charge in validation.charges]
        return charge_and_insert(charges, *_inserts(validations), skip_locked=True)
    except OutcomeUnknown as error:
        raise _mark_in_doubt(validations) from error
    except UNAVAILABLE:
        raise
    except DatabaseError:
        # A row was rejected: for example, its account was just erased.
        return [None] * len(validations)


def _process_account_queue(validations: list[Validation]) -> list[ValidationResponse | Exception]:
    """Charge what fits in one transaction, then every other validation separately."""
    groupable = [validation for validation in validations if validation.can_be_grouped]
    outcomes: dict[Validation, ValidationResponse | Exception] = {}
    if len(groupable) > 1:
        outcomes = _charge_together(groupable)
    unavailable: Exception | None = None
    for validation in validations:
        if validation in outcomes:
            continue
        try:
            outcomes[validation] = unavailable or _charge_one(validation)
        except UNAVAILABLE as error:
            if not outcomes:
                # Nothing was charged. Raising also fails the next group.
                raise
            # Earlier ones are charged and get responses. Later ones fail untried.
            outcomes[validation] = unavailable = error
    return [outcomes[validation] for validation in validations]


def _charge_together(
    validations: list[Validation],
) -> dict[Validation, ValidationResponse | Exception]:
    """Return the responses, or nothing if the validations need their own transactions."""
    try:
        with atomic():
            charges = [charge for validation in validations for charge in validation.charges]
            balance = charge_account(*charges)
            for insert in _inserts(validations):
                insert.run()
    except OutcomeUnknown as error:
        raise _mark_in_doubt(validations) from error
    except UNAVAILABLE:
        raise
    except (InsufficientCredits, KeyCreditLimitReached, DatabaseError):
        return {}
    # As if charged one after the other.
    balance += sum(validation.cost for validation in validations)
    responses: dict[Validation, ValidationResponse | Exception] = {}
    for validation in validations:
        balance -= validation.cost
        responses[validation] = validation.build_response(balance)
    return responses


def _charge_one(validation: Validation) -> ValidationResponse | Exception:
    """Return errors of this validation only; raise those that concern all."""
    replay = None
    if validation.idempotency_key is not None:
        replay = Replay.of_request(
            validation.caller.account,
            validation.idempotency_key,
            digest_of_request(validation.email, validation.check),
            result_id=validation.id,
            address_hashes=address_hash(validation.email),
            is_free=validation.is_sandbox,
        )
    try:
        inserts = _inserts([validation])
        balance = charge_and_store(validation.caller, validation.charges, inserts, replay)
    except OutcomeUnknown as error:
        raise _mark_in_doubt([validation]) from error
    except UNAVAILABLE:
        raise
    except (InsufficientCredits, KeyCreditLimitReached, ReplayExists, DatabaseError) as error:
        return error
    return validation.build_response(balance)


def _inserts(validations: Sequence[Validation]) -> list[BulkInsert]:
    return [writer.bulk_insert_for(validations), *stored_results.inserts_for(validations)]


_coalescer = Coalescer(_charge_group)
AccountQueue = Coalescer[Validation, ValidationResponse | Exception]
_account_queues: WeakValueDictionary[int, AccountQueue] = WeakValueDictionary()
