"""What a finding costs is charged, and what was asked is recorded: both, or nothing.

Requests that come to this point at the same moment go into one transaction: it is what a metered
call costs more than an empty one. What cannot go with the others (an account that cannot pay for
all of its own, a wallet that somebody else is changing, a request with an Idempotency-Key) goes in
the lane of its account, so that one customer's trouble holds up nobody else.
"""

from dataclasses import dataclass, field

from django.db import DatabaseError, InterfaceError, OperationalError, transaction
from django.utils import timezone

from accounts.together import Together
from apikeys.answers import render
from credits.charges import (
    Charge,
    InsufficientCredits,
    balance_of,
    charge_all,
    insufficient_credits,
)
from validation import log
from validation.engine.verdict import Finding
from validation.ids import result_id
from validation.log import Asker
from validation.models import KeptBefore, Replay

PRICE = 1
# Accounts that share a lane now and then lose nothing but a moment.
LANES = 256
# Nobody else needs to try then.
AWAY = (OperationalError, InterfaceError)


@dataclass(frozen=True, slots=True)
class Answer:
    body: bytes
    cost: int
    balance: int
    replayed: bool = False


@dataclass(eq=False, slots=True)
class Validation:
    """One on its way: what was asked, and what was found out about it."""

    asker: Asker
    email: str
    finding: Finding
    is_sandbox: bool
    duration_ms: int
    # Under which the answer is kept.
    idempotency_key: str | None = None
    id: str = field(default_factory=result_id)

    @property
    def cost(self) -> int:
        """Unknown is free, and so is the sandbox."""
        return PRICE if self.finding.is_definite and not self.is_sandbox else 0

    @property
    def can_be_repeated(self) -> bool:
        return self.finding.is_definite or self.is_sandbox

    def charge(self) -> Charge:
        asker, verdict = self.asker, self.finding.verdict
        return Charge(asker.account, asker.key, verdict, self.cost, self.duration_ms)

    def answer(self, balance: int) -> Answer:
        document = {
            "id": self.id,
            "created_at": timezone.now(),
            "sandbox": self.is_sandbox,
            **self.finding.document(),
            "duration_ms": self.duration_ms,
            "dns_cached": self.finding.dns_cached,
            "credits": {"charged": self.cost, "remaining": balance},
        }
        return Answer(render(document), self.cost, balance)


def settle(validation: Validation) -> Answer:
    if validation.idempotency_key is None:
        balance = _with_all.ask(validation)
        if balance is not None:
            return validation.answer(balance)
    lane = _lanes[validation.asker.account.pk % LANES]
    settled = lane.ask(validation)
    if isinstance(settled, Exception):
        raise settled
    return settled


def _settle_at_once(validations: list[Validation], *, waits: bool = False) -> list[int | None]:
    """The balances. None for those that have to go by themselves."""
    try:
        with transaction.atomic():
            return _charge_and_record(validations, waits=waits)
    except AWAY:
        raise
    except DatabaseError:
        # One of them cannot be written, such as one of an account that was just erased.
        return [None] * len(validations)


def _settle_in_lane(validations: list[Validation]) -> list[Answer | Exception]:
    """Together those that can; then each that is left, by itself."""
    plain = [one for one in validations if one.idempotency_key is None]
    balances: dict[Validation, int | None] = {}
    if len(plain) > 1:
        balances = dict(zip(plain, _settle_at_once(plain, waits=True), strict=True))
    answers: list[Answer | Exception] = []
    for one in validations:
        balance = balances.get(one)
        answers.append(_settle_alone(one) if balance is None else one.answer(balance))
    return answers


def _settle_alone(validation: Validation) -> Answer | Exception:
    account, key = validation.asker.account, validation.idempotency_key
    try:
        with transaction.atomic():
            if key is not None:
                Replay.objects.forget_outdated(account, key)
            (balance,) = _charge_and_record([validation], waits=True)
            if balance is None:
                raise insufficient_credits(required=validation.cost, balance=balance_of(account))
            answer = validation.answer(balance)
            if key is not None:
                Replay.objects.keep(account, key, validation.email, answer.body)
            return answer
    except AWAY:
        raise
    except (InsufficientCredits, KeptBefore, DatabaseError) as its_own:
        return its_own


def _charge_and_record(validations: list[Validation], *, waits: bool) -> list[int | None]:
    charges = [one.charge() for one in validations if not one.is_sandbox]
    charged = iter(charge_all(charges, waits=waits))
    balances = [
        one.asker.account.wallet.balance if one.is_sandbox else next(charged) for one in validations
    ]
    log.write_validations(
        one for one, balance in zip(validations, balances, strict=True) if balance is not None
    )
    return balances


_with_all = Together(_settle_at_once)
_lanes = tuple(Together(_settle_in_lane) for _ in range(LANES))
