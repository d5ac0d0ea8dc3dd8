"""What a finding costs is charged, and what was asked is recorded: both, or nothing.

Requests that come to this point at the same moment go into one transaction: it is what a metered
call costs more than an empty one. What cannot go with the others (an account that cannot pay for
all of its own, a wallet that somebody else is changing, a request with an Idempotency-Key) goes in
the lane of its account, so that one customer's trouble holds up nobody else.
"""

from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from django.db import DatabaseError, OperationalError
from django.utils import timezone

from accounts.models import Account
from apikeys.rest.responses import render
from credits.wallet.charges import (
    Charge,
    InsufficientCredits,
    charge,
    charge_all,
    charge_quietly,
)
from runtime.database.coalescing import Coalescer, WorkInterrupted
from runtime.database.raw_sql import UNAVAILABLE, OutcomeUnknown, atomic
from validation import lost_charges
from validation.engine.verdict import Finding
from validation.ids import result_id
from validation.models import AlreadyStored, Replay
from validation.request_log import writer
from validation.request_log.writer import Caller

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
    """One on its way: what was asked, and what was found out about it."""

    asker: Caller
    email: str
    finding: Finding
    is_sandbox: bool
    duration_ms: int
    # Under which the answer is kept.
    idempotency_key: str | None = None
    id: str = field(default_factory=result_id)
    # The connection was lost while it was being committed.
    is_in_doubt: bool = False

    @property
    def cost(self) -> int:
        """Unknown is free, and so is the sandbox."""
        return PRICE if self.finding.is_definite and not self.is_sandbox else 0

    @property
    def can_be_repeated(self) -> bool:
        return self.finding.is_definite or self.is_sandbox

    @property
    def can_go_with_others(self) -> bool:
        return not self.is_sandbox and self.idempotency_key is None and self.asker.key is not None

    def charge(self) -> Charge:
        asker, verdict = self.asker, self.finding.verdict
        return Charge(asker.account, asker.key, verdict, self.cost, self.duration_ms)

    def answer(self, balance: int) -> ValidationResponse:
        document = {
            "id": self.id,
            "created_at": timezone.now(),
            "sandbox": self.is_sandbox,
            **self.finding.document(),
            "duration_ms": self.duration_ms,
            "dns_cached": self.finding.dns_cached,
            "credits": {"charged": self.cost, "remaining": balance},
        }
        return ValidationResponse(render(document), self.cost, balance, self.finding.verdict)


def charge_and_record(validation: Validation) -> ValidationResponse:
    """Raises OutcomeUnknown if it may have been charged, AWAY's others if it certainly was not."""
    try:
        return _settle(validation)
    except (*UNAVAILABLE, WorkInterrupted) as error:
        is_in_doubt = validation.is_in_doubt or isinstance(error, WorkInterrupted)
        if is_in_doubt and validation.cost:
            raise _in_doubt(validation) from error
        raise


def _in_doubt(validation: Validation) -> OutcomeUnknown:
    # With an Idempotency-Key the result is not lost: the same request gets it again.
    if validation.cost and validation.idempotency_key is None:
        lost_charges.remember(validation.asker.account, validation.id, validation.cost)
    return OutcomeUnknown("The database was lost while a charge was being committed.")


def _lost_in_commit(validations: list[Validation]) -> OperationalError:
    """For all that wait: those that were not part of the transaction were certainly not charged."""
    for one in validations:
        one.is_in_doubt = True
    return OperationalError("The database was lost during a COMMIT.")


def _settle(validation: Validation) -> ValidationResponse:
    if validation.can_go_with_others:
        balance = _with_others.ask(validation)
        if balance is not None:
            return validation.answer(balance)
    settled = _lane_of(validation.asker.account).ask(validation)
    if isinstance(settled, Exception):
        raise settled
    return settled


def _settle_quietly(validations: list[Validation]) -> list[int | None]:
    """The balances. None for those that have to go in their lanes."""
    try:
        charges = [one.charge() for one in validations]
        return charge_quietly(charges, writer.bulk_insert_for(validations))
    except OutcomeUnknown as error:
        raise _lost_in_commit(validations) from error
    except UNAVAILABLE:
        raise
    except DatabaseError:
        # One of them cannot be written, such as one of an account that was just erased.
        return [None] * len(validations)


def _settle_in_lane(validations: list[Validation]) -> list[ValidationResponse | Exception]:
    """Together those that can; then each that is left, by itself."""
    together = [one for one in validations if one.can_go_with_others]
    answers: dict[Validation, ValidationResponse | Exception] = {}
    if len(together) > 1:
        answers = _settle_all(together)
    away: Exception | None = None
    for one in validations:
        if one in answers:
            continue
        try:
            answers[one] = away or _settle_alone(one)
        except UNAVAILABLE as error:
            if not answers:
                # Then it is the answer to those as well who wait for the next turn.
                raise
            # Those before it are charged and get their answers; those after it need not try.
            answers[one] = away = error
    return [answers[one] for one in validations]


def _settle_all(validations: list[Validation]) -> dict[Validation, ValidationResponse | Exception]:
    """Without those that have to go by themselves."""
    try:
        with atomic():
            balances = charge_all([one.charge() for one in validations])
            settled = dict(zip(validations, balances, strict=True))
            writer.bulk_insert_for(one for one in validations if settled[one] is not None).run()
    except OutcomeUnknown as error:
        raise _lost_in_commit(validations) from error
    except UNAVAILABLE:
        raise
    except DatabaseError:
        return {}
    return {one: one.answer(left) for one, left in settled.items() if left is not None}


def _settle_alone(validation: Validation) -> ValidationResponse | Exception:
    try:
        with atomic():
            answer = _charge_and_record(validation)
    except OutcomeUnknown as error:
        raise _lost_in_commit([validation]) from error
    except UNAVAILABLE:
        raise
    except (InsufficientCredits, AlreadyStored, DatabaseError) as its_own:
        return its_own
    return answer


def _charge_and_record(validation: Validation) -> ValidationResponse:
    account, key = validation.asker.account, validation.idempotency_key
    if key is not None:
        Replay.objects.forget_outdated(account, key)
    writer.bulk_insert_for([validation]).run()
    balance: int = account.wallet.balance
    if not validation.is_sandbox:
        # Late: from here on other requests of the account wait for the end of this transaction.
        balance = charge(validation.charge())
    answer = validation.answer(balance)
    if key is not None:
        Replay.objects.keep(
            account, key, validation.email, answer.body, is_sandbox=validation.is_sandbox
        )
    return answer


def _lane_of(account: Account) -> "Lane":
    """There is one as long as somebody is in it."""
    return _lanes.get(account.pk) or _lanes.setdefault(
        account.pk, Coalescer(_settle_in_lane, may_wait=True)
    )


_with_others = Coalescer(_settle_quietly)
Lane = Coalescer[Validation, ValidationResponse | Exception]
_lanes: WeakValueDictionary[int, Lane] = WeakValueDictionary()
