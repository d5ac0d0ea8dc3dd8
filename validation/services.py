"""Validate an address: look for a replay, run the checks, charge, and build the response."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import orjson

from accounts.engine import get_engine
from apikeys.errors import ApiError
from credits.wallet.charges import InsufficientCredits, get_balance
from credits.wallet.key_limits import KeyCreditLimitReached
from runtime.metrics.client import Counter
from validation.charging.settlement import PRICE, Validation, ValidationResponse, charge_and_record
from validation.domain_data import account_domains
from validation.engine.sandbox import sandbox_finding, sandbox_word
from validation.engine.verdicts.reasons import VERDICT_BY_REASON
from validation.lookup_limits import AccountLookupLimit
from validation.models import Replay, ReplayExists
from validation.request_log import writer
from validation.request_log.writer import Caller

validations = Counter(
    "emailvalidation_validations",
    "Completed validations, by verdict, reason and source: api, batch, playground or sandbox.",
    ("verdict", "reason", "source"),
)
# Looking up the labels costs as much as counting.
_validations_by = cache(validations.labels)


def price_of(email: str) -> int:
    """Return the most that validating the address can cost, without running any check."""
    return 0 if sandbox_word(email) is not None else PRICE


def find_replay(*, caller: Caller, idempotency_key: str, email: str) -> ValidationResponse | None:
    return find_stored_response(caller, idempotency_key, lambda replay: replay.is_for(email))


def find_stored_response(
    caller: Caller, idempotency_key: str, is_same_request: Callable[[Replay], bool]
) -> ValidationResponse | None:
    replay = Replay.objects.find(caller.account, idempotency_key)
    if replay is None:
        return None
    if not is_same_request(replay):
        raise ApiError("idempotency_key_reused", param="Idempotency-Key")
    return ValidationResponse(replay.body.encode(), 0, get_balance(caller.account), replayed=True)


def validate(*, caller: Caller, email: str, idempotency_key: str | None) -> ValidationResponse:
    started = time.perf_counter()
    word = sandbox_word(email)
    if word is None:
        finding = get_engine().check(email, AccountLookupLimit(caller.account))
        finding = account_domains.mark(finding, caller.account)
    else:
        finding = sandbox_finding(get_engine().check_without_dns(email), word)
    duration_ms = round((time.perf_counter() - started) * 1000)
    count_validations(finding.reason, _source(caller, word))
    validation = Validation(caller, email, finding, word is not None, duration_ms)
    if idempotency_key is None:
        return charge_and_record(validation)
    try:
        if validation.is_replayable:
            validation.idempotency_key = idempotency_key
            return charge_and_record(validation)
        # An unknown isn't stored. If a concurrent request stored a verdict, this one returns it.
        first = _replay_first_response(caller, email, idempotency_key)
        return first or charge_and_record(validation)
    except (ReplayExists, InsufficientCredits, KeyCreditLimitReached):
        # Two requests raced with one key, and the first was charged: both get its response.
        first = _replay_first_response(caller, email, idempotency_key)
        if first is None:
            raise
        return first


def count_validations(reason: str, source: str, number: int = 1) -> None:
    _validations_by(VERDICT_BY_REASON[reason], reason, source).inc(number)


def _source(caller: Caller, word: str | None) -> str:
    if word is not None:
        return "sandbox"
    return "api" if caller.key is not None else "playground"


def _replay_first_response(
    caller: Caller, email: str, idempotency_key: str
) -> ValidationResponse | None:
    first = find_replay(caller=caller, idempotency_key=idempotency_key, email=email)
    return first and replay_response(caller=caller, email=email, response=first)


def replay_response(
    *, caller: Caller, email: str, response: ValidationResponse
) -> ValidationResponse:
    """Log the replay and return the stored response with its verdict."""
    result = orjson.loads(response.body)
    writer.write_replay(caller, email, result)
    return replace(response, verdict=result["verdict"])
