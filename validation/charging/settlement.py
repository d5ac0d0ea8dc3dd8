"""Charge the account for a finding, log the request and store the result, in one transaction.

Requests that reach this point at the same time share a transaction, because the transaction is most
of what a metered call costs. A validation that can't share it waits in its account's queue: the
account can't pay for all of its validations, another transaction holds its wallet, the key has a
credit limit, or the request has an Idempotency-Key. So no account delays the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from django.db import DatabaseError, OperationalError
from django.utils import timezone

from accounts.models import Account
from apikeys.rest.responses import render
from credits.wallet.charges import (
    Charge,
    InsufficientCredits,
    charge_account,
    charge_all,
    charge_and_insert,
)
from credits.wallet.key_limits import KeyCreditLimitReached
from runtime.database.coalescing import Coalescer, WorkInterrupted
from runtime.database.raw_sql import UNAVAILABLE, BulkInsert, OutcomeUnknown, atomic
from runtime.tracing import traced
from validation.charging import lost_charges
from validation.engine.verdicts.finding import Finding
from validation.ids import new_result_id
from validation.models import Replay, ReplayExists
from validation.request_log import writer
from validation.request_log.writer import Caller
from validation.results import stored_results

PRICE = 1


@dataclass(frozen=True, slots=True)
class ValidationResponse:
    body: bytes
    cost: int
    balance: int
    verdict: str = ""
    replayed: bool = False


@dataclass(eq=False, slots=True)
class Validation:
    """A finding that is ready to be charged and recorded."""

    caller: Caller
    email: str
    finding: Finding
    is_sandbox: bool
    duration_ms: int
    # If set, the response is stored under this key.
    idempotency_key: str | None = None
    id: str = field(default_factory=new_result_id)
    # The connection was lost while this validation was being committed.
    is_in_doubt: bool = False
    # Built once: what is stored must be what was returned.
    _document: dict[str, object] | None = None
    _json: bytes = b""

    @property
    def cost(self) -> int:
        """Return 0 for an unknown verdict and for the sandbox."""
        return PRICE if self.finding.is_definite and not self.is_sandbox else 0

    @property
    def is_replayable(self) -> bool:
        return self.finding.is_definite or self.is_sandbox

    @property
    def can_be_grouped(self) -> bool:
        return not self.is_sandbox and self.idempotency_key is None and self.caller.key is not None

    @property
    def has_key_limit(self) -> bool:
        key = self.caller.key
        return key is not None and key.credits_per_month is not None

    def charge(self) -> Charge:
        caller, verdict = self.caller, self.finding.verdict
        return Charge(caller.account, caller.key, verdict, self.cost, self.duration_ms)

    def build_response(self, balance: int) -> ValidationResponse:
        credits = render({"charged": self.cost, "remaining": balance})
        body = b'%b,"credits":%b}' % (self.render()[:-1], credits)
        return ValidationResponse(body, self.cost, balance, self.finding.verdict)

    def render(self) -> bytes:
        """Return the result's JSON without its credits, which are known once it is charged."""
        if not self._json:
            self._json = render(self.document())
        return self._json

    def document(self) -> dict[str, object]:
        """Return the result without its credits."""
        if self._document is None:
            self._document = {
                "id": self.id,
                "created_at": timezone.now(),
                "sandbox": self.is_sandbox,
                **self.finding.document(),
                "duration_ms": self.duration_ms,
                "dns_cached": self.finding.dns_cached,
            }
        return self._document


@traced("charge", lambda response: {"emailvalidation.credits": response.cost})
def charge_and_record(validation: Validation) -> ValidationResponse:
    """Commit the charge, the request-log row and, with an Idempotency-Key, the replay.

    Raise OutcomeUnknown if the account may have been charged. Any other error in UNAVAILABLE means
    that it was not charged.
    """
    try:
        return _submit(validation)
    except (*UNAVAILABLE, WorkInterrupted) as error:
        is_in_doubt = validation.is_in_doubt or isinstance(error, WorkInterrupted)
        if is_in_doubt and validation.cost:
            raise _outcome_unknown(validation) from error
        raise


def _outcome_unknown(validation: Validation) -> OutcomeUnknown:
    # With an Idempotency-Key the result isn't lost: a retry gets the stored response.
    if validation.cost and validation.idempotency_key is None:
        lost_charges.record_lost_charge(validation.caller.account, validation.id, validation.cost)
    return OutcomeUnknown("The connection was lost while a charge was being committed.")


def _mark_in_doubt(validations: list[Validation]) -> OperationalError:
    """Mark the validations of this transaction and return the error for all waiting callers.

    The error reaches callers outside the transaction too, and those were certainly not charged.
    """
    for validation in validations:
        validation.is_in_doubt = True
    return OperationalError("The connection was lost during COMMIT.")


def _submit(validation: Validation) -> ValidationResponse:
    if validation.can_be_grouped and not validation.has_key_limit:
        balance = _coalescer.submit(validation)
        if balance is not None:
            return validation.build_response(balance)
    outcome = _account_queue(validation.caller.account).submit(validation)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _charge_group(validations: list[Validation]) -> list[int | None]:
    """Return each balance, or None for a validation that must go to its account's queue."""
    try:
        charges = [validation.charge() for validation in validations]
        return charge_and_insert(charges, *_inserts(validations), skip_locked=True)
    except OutcomeUnknown as error:
        raise _mark_in_doubt(validations) from error
    except UNAVAILABLE:
        raise
    except DatabaseError:
        # The database rejected at least one row, such as one of an account that was just erased.
        return [None] * len(validations)


def _process_account_queue(
    validations: list[Validation],
) -> list[ValidationResponse | Exception]:
    """Charge what it can in one transaction, then every other validation in its own."""
    groupable = [validation for validation in validations if validation.can_be_grouped]
    outcomes: dict[Validation, ValidationResponse | Exception] = {}
    if len(groupable) > 1:
        outcomes = _charge_all(groupable)
    unavailable: Exception | None = None
    for validation in validations:
        if validation in outcomes:
            continue
        try:
            outcomes[validation] = unavailable or _charge_one(validation)
        except UNAVAILABLE as error:
            if not outcomes:
                # Nothing was charged: raising also fails the callers waiting for the next group.
                raise
            # The earlier validations are charged and get responses. The later ones fail untried.
            outcomes[validation] = unavailable = error
    return [outcomes[validation] for validation in validations]


def _charge_all(validations: list[Validation]) -> dict[Validation, ValidationResponse | Exception]:
    """Return responses for the charged validations; the others need their own transaction."""
    try:
        with atomic():
            charged = charge_all([validation.charge() for validation in validations])
            balances = dict(zip(validations, charged, strict=True))
            _insert([validation for validation in validations if balances[validation] is not None])
    except OutcomeUnknown as error:
        raise _mark_in_doubt(validations) from error
    except UNAVAILABLE:
        raise
    except (KeyCreditLimitReached, DatabaseError):
        return {}
    return {
        validation: validation.build_response(balance)
        for validation, balance in balances.items()
        if balance is not None
    }


def _charge_one(validation: Validation) -> ValidationResponse | Exception:
    """Return the errors that concern this validation only; raise those that concern all."""
    try:
        with atomic():
            response = _write(validation)
    except OutcomeUnknown as error:
        raise _mark_in_doubt([validation]) from error
    except UNAVAILABLE:
        raise
    except (InsufficientCredits, KeyCreditLimitReached, ReplayExists, DatabaseError) as error:
        return error
    return response


def _write(validation: Validation) -> ValidationResponse:
    account, key = validation.caller.account, validation.idempotency_key
    if key is not None:
        Replay.objects.delete_expired(account, key)
    _insert([validation])
    balance: int = account.wallet.balance
    if not validation.is_sandbox:
        # As late as possible: this locks the wallet, and the account's other requests then wait
        # until this transaction ends.
        balance = charge_account(validation.charge())
    response = validation.build_response(balance)
    if key is not None:
        Replay.objects.store(
            account, key, validation.email, response.body, is_sandbox=validation.is_sandbox
        )
    return response


def _inserts(validations: Sequence[Validation]) -> list[BulkInsert]:
    """Return what to insert besides the charge: request-log rows, and the results."""
    return [writer.bulk_insert_for(validations), *stored_results.inserts_for(validations)]


def _insert(validations: Sequence[Validation]) -> None:
    for insert in _inserts(validations):
        insert.run()


def _account_queue(account: Account) -> "AccountQueue":
    """Return the account's queue, which exists only while a caller holds a reference to it."""
    return _account_queues.get(account.pk) or _account_queues.setdefault(
        account.pk, Coalescer(_process_account_queue, may_wait=True)
    )


_coalescer = Coalescer(_charge_group)
AccountQueue = Coalescer[Validation, ValidationResponse | Exception]
_account_queues: WeakValueDictionary[int, AccountQueue] = WeakValueDictionary()
