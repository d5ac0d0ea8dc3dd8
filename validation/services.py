import time
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import orjson
from django.conf import settings

from accounts.engine import get_engine
from credits.wallet.charges import InsufficientCredits, get_balance
from credits.wallet.key_limits import KeyCreditLimitReached
from engine import Finding, LookupShare, as_pending, sandbox_smtp, sandbox_word, without_answer
from runtime.database.raw_sql import UNAVAILABLE, OutcomeUnknown, times_unavailable
from validation.account_domains import matching
from validation.charging import lost_charges
from validation.charging.settlement import charge_and_record, count_validations, digest_of_request
from validation.lookup_limits import AccountLookupLimit
from validation.models import Check, Probe, ReplayExists
from validation.probes.assessment import MAX_DURATION, assess
from validation.probes.daily_limit import count_check
from validation.probes.settlement import finish, read_response, start_probe
from validation.probes.waiting import wait_for_answers
from validation.request_log import writer
from validation.results import pending, stored_results
from validation.results.replays import find_response
from validation.validations import MAILBOX_PRICE, PRICE, Caller, Validation, ValidationResponse

# After the DNS's timeout, as in batches.
GRACE_SECONDS = 1.0


def price_of(email: str, check: Check = Check.DNS) -> int:
    """Return the most that a call can cost."""
    if sandbox_word(email) is not None:
        return 0
    return MAILBOX_PRICE if check == Check.MAILBOX else PRICE


def find_replay(
    *, caller: Caller, idempotency_key: str, email: str, check: Check = Check.DNS
) -> ValidationResponse | None:
    request = (caller, idempotency_key, digest_of_request(email, check))
    response = find_stored_response(*request)
    if response is None or not pending.has_pending(response.body):
        return response
    result = orjson.loads(response.body)
    if not pending.refresh(result):
        # It was finished since.
        return find_stored_response(*request)
    return replace(response, body=orjson.dumps(result))


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
    validation = Validation(caller, email, finding, word is not None, duration_ms)
    return _charge(validation, idempotency_key)


def check_mailbox(
    *, caller: Caller, email: str, idempotency_key: str | None, timeout_seconds: int
) -> ValidationResponse:
    """Return the result, or a pending one if the mail server doesn't answer in time."""
    started, ends_at = time.perf_counter(), time.monotonic() + timeout_seconds
    account, word, assessment = caller.account, sandbox_word(email), None
    if word is not None:
        finding = get_engine().simulate(email, word)
        finding = finding._replace(smtp=sandbox_smtp(finding.reason))
    else:
        count_check(account)
        (finding,) = get_engine().check_many(
            [email],
            seconds=min(timeout_seconds, settings.DNS_TIMEOUT + GRACE_SECONDS),
            share=LookupShare(1),
            limit=AccountLookupLimit(account),
        )
        assessment = assess(finding, account)
        finding = matching.mark(assessment.finding, account)
    validation = Validation(
        *(caller, email, finding, word is not None),
        duration_ms=round((time.perf_counter() - started) * 1000),
        check=Check.MAILBOX,
    )
    if assessment is None or not assessment.organization:
        return _charge(validation, idempotency_key)
    validation.finding, validation.held = as_pending(finding), MAILBOX_PRICE
    validation.idempotency_key = idempotency_key
    # Where the result couldn't be read later, the check ends with the call, even if we crash.
    is_kept = stored_results.stores_results(account)
    lifetime = MAX_DURATION if is_kept else timedelta(seconds=timeout_seconds)
    try:
        probe, first_response = start_probe(validation, assessment, lifetime=lifetime)
    except (ReplayExists, InsufficientCredits, KeyCreditLimitReached) as error:
        return _replay_first(validation, error)
    except OutcomeUnknown:
        if idempotency_key is None:
            lost_charges.record_lost_charge(account, validation.id, MAILBOX_PRICE)
        raise
    return _wait(probe, first_response, ends_at, None if is_kept else finding)


def _wait(
    probe: Probe, first_response: ValidationResponse, ends_at: float, unkept: Finding | None
) -> ValidationResponse:
    """Return the result, or the pending one. `unkept` is what is known if it can't be pending."""
    try:
        wait_for_answers(probe.account, [probe], ends_at)
        if unkept is not None:
            # This does nothing if the check is done.
            finish(probe=probe, finding=without_answer(unkept, "smtp_timeout"))
        return read_response(probe) or first_response
    except UNAVAILABLE:
        if unkept is not None:
            raise
        # The check goes on and may be charged, so the caller needs its ID.
        times_unavailable.labels("api").inc()
        return first_response


def _charge(validation: Validation, idempotency_key: str | None) -> ValidationResponse:
    caller, email, check = validation.caller, validation.email, validation.check
    is_api = caller.key is not None
    source = "sandbox" if validation.is_sandbox else "api" if is_api else "playground"
    count_validations(validation.finding.reason, source)
    if idempotency_key is None:
        return charge_and_record(validation)
    try:
        if validation.is_replayable:
            validation.idempotency_key = idempotency_key
            return charge_and_record(validation)
        # An unknown isn't stored, but a concurrent request may have stored a verdict.
        first = find_replay(
            caller=caller, idempotency_key=idempotency_key, email=email, check=check
        )
        if first is None:
            return charge_and_record(validation)
    except (ReplayExists, InsufficientCredits, KeyCreditLimitReached) as error:
        validation.idempotency_key = idempotency_key
        return _replay_first(validation, error)
    return replay_response(caller=caller, response=first)


def _replay_first(validation: Validation, error: Exception) -> ValidationResponse:
    """Return the response to another request that used the key first, or raise the error."""
    key = validation.idempotency_key
    first = key and find_replay(
        caller=validation.caller,
        idempotency_key=key,
        email=validation.email,
        check=validation.check,
    )
    if not first:
        raise error
    return replay_response(caller=validation.caller, response=first)


def replay_response(*, caller: Caller, response: ValidationResponse) -> ValidationResponse:
    result = orjson.loads(response.body)
    writer.write_replay(caller, [result])
    return replace(response, verdict=result["verdict"])
