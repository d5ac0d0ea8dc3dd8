import time
from dataclasses import replace
from functools import cache
from uuid import UUID

import orjson

from accounts.engine import get_engine
from credits.wallet.charges import InsufficientCredits, get_balance
from credits.wallet.key_limits import KeyCreditLimitReached
from engine import VERDICT_BY_REASON, sandbox_word
from runtime.metrics.client import Counter
from validation.account_domains import matching
from validation.charging.settlement import PRICE, Validation, ValidationResponse, charge_and_record
from validation.lookup_limits import AccountLookupLimit
from validation.models import ReplayExists
from validation.models.replays import digest
from validation.request_log import writer
from validation.request_log.writer import Caller
from validation.results.replays import find_response

validations = Counter(
    "emailvalidation_validations",
    "Completed validations, by verdict, reason and source: api, batch, playground or sandbox.",
    ("verdict", "reason", "source"),
)
_validations_by = cache(validations.labels)


def price_of(email: str) -> int:
    return 0 if sandbox_word(email) is not None else PRICE


def find_replay(*, caller: Caller, idempotency_key: str, email: str) -> ValidationResponse | None:
    return find_stored_response(caller, idempotency_key, digest("address", email))


def find_stored_response(
    caller: Caller, idempotency_key: str, request_digest: UUID
) -> ValidationResponse | None:
    body = find_response(caller.account, idempotency_key, request_digest)
    if body is None:
        return None
    return ValidationResponse(body, 0, get_balance(caller.account), replayed=True)


def validate(*, caller: Caller, email: str, idempotency_key: str | None) -> ValidationResponse:
    started = time.perf_counter()
    word = sandbox_word(email)
    if word is None:
        finding = get_engine().check(email, limit=AccountLookupLimit(caller.account))
        finding = matching.mark(finding, caller.account)
    else:
        finding = get_engine().simulate(email, word)
    duration_ms = round((time.perf_counter() - started) * 1000)
    source = "sandbox" if word else "api" if caller.key else "playground"
    count_validations(finding.reason, source)
    validation = Validation(caller, email, finding, word is not None, duration_ms)
    if idempotency_key is None:
        return charge_and_record(validation)
    try:
        if validation.is_replayable:
            validation.idempotency_key = idempotency_key
            return charge_and_record(validation)
        # An unknown isn't stored, but a concurrent request may have stored a verdict.
        first = find_replay(caller=caller, idempotency_key=idempotency_key, email=email)
        if first is None:
            return charge_and_record(validation)
    except (ReplayExists, InsufficientCredits, KeyCreditLimitReached):
        # Another request with the key was charged first: both get its response.
        first = find_replay(caller=caller, idempotency_key=idempotency_key, email=email)
        if first is None:
            raise
    return replay_response(caller=caller, response=first)


def count_validations(reason: str, source: str, number: int = 1) -> None:
    _validations_by(VERDICT_BY_REASON[reason], reason, source).inc(number)


def replay_response(*, caller: Caller, response: ValidationResponse) -> ValidationResponse:
    result = orjson.loads(response.body)
    writer.write_replay(caller, [result])
    return replace(response, verdict=result["verdict"])
