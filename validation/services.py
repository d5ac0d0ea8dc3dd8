"""One validation: look for a replay, check, charge and record, answer. The only place that knows
all of it."""

import time
from dataclasses import dataclass, field

import orjson
from django.db import transaction
from django.utils import timezone

from accounts.engine import engine
from apikeys.answers import render
from apikeys.errors import ApiError
from credits.queueing import turn_of
from credits.services import InsufficientCredits, balance_of, charge
from validation import log
from validation.engine.sandbox import sandbox_finding, sandbox_word
from validation.engine.verdict import Finding
from validation.ids import result_id
from validation.log import Asker
from validation.models import KeptBefore, Replay

PRICE = 1


@dataclass(frozen=True)
class Answer:
    body: bytes
    cost: int
    balance: int
    replayed: bool = False


@dataclass
class Validation:
    """One on its way: what was asked, and what was found out about it."""

    asker: Asker
    email: str
    finding: Finding
    is_sandbox: bool
    duration_ms: int
    id: str = field(default_factory=result_id)

    @property
    def cost(self) -> int:
        """Unknown is free, and so is the sandbox."""
        return PRICE if self.finding.is_definite and not self.is_sandbox else 0

    @property
    def can_be_repeated(self) -> bool:
        return self.finding.is_definite or self.is_sandbox

    def body(self, balance: int) -> bytes:
        return render(
            {
                "id": self.id,
                "created_at": timezone.now(),
                "sandbox": self.is_sandbox,
                **self.finding.document(),
                "duration_ms": self.duration_ms,
                "dns_cached": self.finding.dns_cached,
                "credits": {"charged": self.cost, "remaining": balance},
            }
        )


def price_of(email: str) -> int:
    """What it costs at most; known before any work is done."""
    return 0 if sandbox_word(email) is not None else PRICE


def find_replay(*, asker: Asker, idempotency_key: str, email: str) -> Answer | None:
    replay = Replay.objects.find(asker.account, idempotency_key)
    if replay is None:
        return None
    if not replay.is_for(email):
        raise ApiError("idempotency_key_reused", param="Idempotency-Key")
    return Answer(replay.body.encode(), 0, balance_of(asker.account), replayed=True)


def validate(*, asker: Asker, email: str, idempotency_key: str | None) -> Answer:
    started = time.perf_counter()
    word = sandbox_word(email)
    if word is None:
        finding = engine().check(email)
    else:
        finding = sandbox_finding(engine().check_without_dns(email), word)
    duration_ms = round((time.perf_counter() - started) * 1000)
    validation = Validation(asker, email, finding, word is not None, duration_ms)
    if idempotency_key is None:
        return _settle(validation, None)
    try:
        if validation.can_be_repeated:
            return _settle(validation, idempotency_key)
        # What could not tell is not kept, and gives way to one at the same moment that could.
        return _first_answer(asker, email, idempotency_key) or _settle(validation, None)
    except (KeptBefore, InsufficientCredits):
        # Of two at once with one key the first has charged: this is the answer to both.
        first = _first_answer(asker, email, idempotency_key)
        if first is None:
            raise
        return first


def _first_answer(asker: Asker, email: str, idempotency_key: str) -> Answer | None:
    first = find_replay(asker=asker, idempotency_key=idempotency_key, email=email)
    return first and answer_again(asker=asker, email=email, replayed=first)


def answer_again(*, asker: Asker, email: str, replayed: Answer) -> Answer:
    log.write_replay(asker, email, orjson.loads(replayed.body))
    return replayed


def _settle(validation: Validation, idempotency_key: str | None) -> Answer:
    with turn_of(validation.asker.account), transaction.atomic():
        return _charge_and_record(validation, idempotency_key)


def _charge_and_record(validation: Validation, idempotency_key: str | None) -> Answer:
    """Record, charge and remember, or none of it. The charge comes late: from then on other
    requests of the account wait for the end of this transaction."""
    asker = validation.asker
    balance = asker.account.wallet.balance
    log.write_validation(
        asker,
        validation.email,
        validation.finding,
        result_id=validation.id,
        sandbox=validation.is_sandbox,
        cost=validation.cost,
        duration_ms=validation.duration_ms,
    )
    if idempotency_key is not None:
        Replay.objects.forget_outdated(asker.account, idempotency_key)
    if not validation.is_sandbox:
        balance = charge(
            account=asker.account,
            key=asker.key,
            verdict=validation.finding.verdict,
            cost=validation.cost,
            duration_ms=validation.duration_ms,
        )
    body = validation.body(balance)
    if idempotency_key is not None:
        Replay.objects.keep(asker.account, idempotency_key, validation.email, body)
    return Answer(body, validation.cost, balance)
