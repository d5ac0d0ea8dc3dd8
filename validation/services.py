"""One validation: look for a replay, check, settle, answer. The only place that knows all of it."""

import time
from dataclasses import replace

import orjson

from accounts.engine import engine
from apikeys.errors import ApiError
from credits.wallet.charges import InsufficientCredits, balance_of
from runtime.metrics.registry import Counter
from validation.engine.sandbox import sandbox_finding, sandbox_word
from validation.lookup_limits import AccountLookupLimit
from validation.models import AlreadyStored, Replay
from validation.request_log import writer
from validation.request_log.writer import Caller
from validation.settlement import PRICE, Validation, ValidationResponse, charge_and_record

validations = Counter(
    "validations",
    "Addresses that were judged, by verdict, reason and source: api, playground or sandbox.",
    ("verdict", "reason", "source"),
)


def price_of(email: str) -> int:
    """What it costs at most; known before any work is done."""
    return 0 if sandbox_word(email) is not None else PRICE


def find_replay(*, asker: Caller, idempotency_key: str, email: str) -> ValidationResponse | None:
    replay = Replay.objects.find(asker.account, idempotency_key)
    if replay is None:
        return None
    if not replay.is_for(email):
        raise ApiError("idempotency_key_reused", param="Idempotency-Key")
    return ValidationResponse(replay.body.encode(), 0, balance_of(asker.account), replayed=True)


def validate(*, asker: Caller, email: str, idempotency_key: str | None) -> ValidationResponse:
    started = time.perf_counter()
    word = sandbox_word(email)
    if word is None:
        finding = engine().check(email, AccountLookupLimit(asker.account))
    else:
        finding = sandbox_finding(engine().check_without_dns(email), word)
    duration_ms = round((time.perf_counter() - started) * 1000)
    validations.add(finding.verdict, finding.reason, _source(asker, word))
    validation = Validation(asker, email, finding, word is not None, duration_ms)
    if idempotency_key is None:
        return charge_and_record(validation)
    try:
        if validation.can_be_repeated:
            validation.idempotency_key = idempotency_key
            return charge_and_record(validation)
        # What could not tell is not kept, and gives way to one at the same moment that could.
        return _first_answer(asker, email, idempotency_key) or charge_and_record(validation)
    except (AlreadyStored, InsufficientCredits):
        # Of two at once with one key the first has charged: this is the answer to both.
        first = _first_answer(asker, email, idempotency_key)
        if first is None:
            raise
        return first


def _source(asker: Caller, word: str | None) -> str:
    if word is not None:
        return "sandbox"
    return "api" if asker.key is not None else "playground"


def _first_answer(asker: Caller, email: str, idempotency_key: str) -> ValidationResponse | None:
    first = find_replay(asker=asker, idempotency_key=idempotency_key, email=email)
    return first and answer_again(asker=asker, email=email, replayed=first)


def answer_again(*, asker: Caller, email: str, replayed: ValidationResponse) -> ValidationResponse:
    result = orjson.loads(replayed.body)
    writer.write_replay(asker, email, result)
    return replace(replayed, verdict=result["verdict"])
