import collections
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from weakref import WeakValueDictionary

import orjson
from django.conf import settings
from django.utils import timezone

from accounts.engine import get_engine
from accounts.models import Account
from apikeys.errors import REFUSALS
from credits.wallet.charges import InsufficientCredits, get_balance
from credits.wallet.key_limits import KeyCreditLimitReached
from engine import (
    Finding,
    LookupShare,
    Verdict,
    as_pending,
    sandbox_smtp,
    sandbox_word,
    without_answer,
)
from runtime.database.raw_sql import atomic
from runtime.metrics.client import Counter
from runtime.tracing import traced
from validation.account_domains import matching
from validation.batches.settlement import Batch, charge_and_record_batch, digest_of
from validation.charging.settlement import count_validations
from validation.ids import RESULT_PREFIX, new_ids
from validation.lookup_limits import AccountLookupLimit
from validation.models import Check, Probe, ReplayExists, StoredResult
from validation.probes.assessment import MAX_DURATION, assess
from validation.probes.daily_limit import count_check
from validation.probes.settlement import finish, start_probe
from validation.probes.waiting import wait_for_answers
from validation.request_log import writer
from validation.results import stored_results
from validation.results.pending import has_pending, is_pending, refresh
from validation.services import find_stored_response, price_of
from validation.validations import MAILBOX_PRICE, Caller, Validation, ValidationResponse

MAX_ADDRESSES = 100
# The limit of each worker. The engine runs 400.
LOOKUPS_PER_ACCOUNT = 40
GRACE_SECONDS = 1.0

_shares: WeakValueDictionary[int, LookupShare] = WeakValueDictionary()

batches = Counter("emailvalidation_batches", "Completed batches.")


def price_of_batch(emails: Sequence[str], check: Check = Check.DNS) -> int:
    return sum(price_of(email, check) for email in dict.fromkeys(emails))


def find_replay(
    *, caller: Caller, idempotency_key: str, emails: Sequence[str], check: Check = Check.DNS
) -> ValidationResponse | None:
    return find_stored_response(caller, idempotency_key, digest_of(emails, check))


def replay_batch(*, caller: Caller, response: ValidationResponse) -> ValidationResponse:
    response = replace(response, body=refresh_batch(response.body, caller.account))
    batch = orjson.loads(response.body)
    results = (result for result in batch["results"] if result["duplicate_of"] is None)
    writer.write_replay(caller, results, path=writer.BATCH_PATH, batch_id=batch["id"])
    return response


def validate_batch(
    *,
    caller: Caller,
    emails: Sequence[str],
    idempotency_key: str | None,
    timeout_seconds: int | None = None,
) -> ValidationResponse:
    """`timeout_seconds`: how long mail servers have to answer, if they are to be asked."""
    check = Check.DNS if timeout_seconds is None else Check.MAILBOX
    try:
        if timeout_seconds is None:
            batch = _check(caller, emails)
            batch.idempotency_key = idempotency_key
            response = charge_and_record_batch(batch)
        else:
            response = _check_mailboxes(caller, emails, idempotency_key, timeout_seconds)
    except (ReplayExists, InsufficientCredits, KeyCreditLimitReached):
        # Another request with the key was charged first: both get its response.
        first = idempotency_key and find_replay(
            caller=caller, idempotency_key=idempotency_key, emails=emails, check=check
        )
        if not first:
            raise
        return replay_batch(caller=caller, response=first)
    batches.inc()
    return response


def _check_mailboxes(
    caller: Caller, emails: Sequence[str], idempotency_key: str | None, timeout_seconds: int
) -> ValidationResponse:
    account, ends_at = caller.account, time.monotonic() + timeout_seconds
    count_check(account, sum(sandbox_word(email) is None for email in set(emails)))
    batch = _check(caller, emails, seconds=timeout_seconds)
    batch.idempotency_key, batch.check = idempotency_key, Check.MAILBOX
    is_kept = stored_results.stores_results(account)
    lifetime = MAX_DURATION if is_kept else timedelta(seconds=timeout_seconds)
    known: dict[Probe, Finding] = {}
    with atomic():
        for validation in batch.validations:
            validation.check = Check.MAILBOX
            if validation.is_sandbox:
                smtp = sandbox_smtp(validation.finding.reason)
                validation.finding = validation.finding._replace(smtp=smtp)
                continue
            assessment = assess(validation.finding, account)
            finding = validation.finding = matching.mark(assessment.finding, account)
            if assessment.organization:
                validation.finding, validation.held = as_pending(finding), MAILBOX_PRICE
                probe, _ = start_probe(validation, assessment, lifetime=lifetime, batch_id=batch.id)
                known[probe] = finding
        # Holds have lowered it.
        account.wallet.refresh_from_db(fields=["balance"])
        response = charge_and_record_batch(batch)
    _count(validation for validation in batch.validations if not validation.held)
    wait_for_answers(account, list(known), ends_at)
    if not is_kept:
        for probe, finding in known.items():
            finish(probe=probe, finding=without_answer(finding, "smtp_timeout"))
    body = refresh_batch(response.body, account)
    if not is_kept:
        StoredResult.objects.filter(pk__in=[probe.result_id for probe in known]).delete()
    credits = orjson.loads(body)["credits"]
    return ValidationResponse(body, credits["charged"], credits["remaining"])


def refresh_batch(body: bytes, account: Account) -> bytes:
    """Return the response to a batch with the results of mailbox checks that ended since."""
    if not has_pending(body):
        return body
    batch = orjson.loads(body)
    ids = {result["id"] for result in batch["results"] if is_pending(result)}
    rows = StoredResult.objects.filter(pk__in=ids, account=account)
    current = {result["id"]: result for row in rows for result in stored_results.unpack(row.packed)}
    balance = get_balance(account)
    for index, result in enumerate(batch["results"]):
        if (now := current.get(result["id"])) is None:
            continue
        # A result that is pending still may have been finished in this moment: it's read later.
        if is_pending(now):
            refresh(now)
        free = {"charged": 0, "held": 0}
        credits = free if result["duplicate_of"] is not None else now["credits"]
        batch["results"][index] = {
            **now,
            "credits": {**credits, "remaining": balance},
            "duplicate_of": result["duplicate_of"],
        }
    distinct = [result for result in batch["results"] if result["duplicate_of"] is None]
    verdicts = collections.Counter(result["verdict"] for result in distinct)
    batch["summary"] |= {verdict.value: verdicts[verdict.value] for verdict in Verdict}
    totals = {
        name: sum(result["credits"][name] for result in distinct) for name in ("charged", "held")
    }
    batch["credits"] = {**totals, "remaining": balance}
    return orjson.dumps(batch)


@traced("check batch", lambda batch: {"emailvalidation.addresses": len(batch.emails)})
def _check(caller: Caller, emails: Sequence[str], seconds: float | None = None) -> Batch:
    started = time.perf_counter()
    distinct = list(dict.fromkeys(emails))
    words = {email: sandbox_word(email) for email in distinct}
    real = [email for email in distinct if words[email] is None]
    account_id = caller.account.pk
    share = _shares.get(account_id) or _shares.setdefault(
        account_id, LookupShare(LOOKUPS_PER_ACCOUNT)
    )
    findings = get_engine().check_many(
        real,
        seconds=min(seconds or math.inf, settings.DNS_TIMEOUT + GRACE_SECONDS),
        share=share,
        limit=AccountLookupLimit(caller.account),
    )
    domains = matching.domains_of(caller.account)
    found = dict(zip(real, map(domains.mark, findings), strict=True))
    for email, word in words.items():
        if word is not None:
            # An error fails this address, not the whole batch.
            known = "check_failed" if word in REFUSALS else word
            found[email] = get_engine().simulate(email, known)
    duration_ms = round((time.perf_counter() - started) * 1000)
    each_ms, now = duration_ms // len(distinct), timezone.now()
    ids = new_ids(RESULT_PREFIX, len(distinct))
    validations = [
        Validation(
            *(caller, email, found[email], words[email] is not None, each_ms),
            id=result_id,
            created_at=now,
        )
        for email, result_id in zip(distinct, ids, strict=True)
    ]
    if seconds is None:
        _count(validations)
    return Batch(caller, emails, validations, duration_ms)


def _count(validations: Iterable[Validation]) -> None:
    numbers = collections.Counter((each.finding.reason, each.is_sandbox) for each in validations)
    for (reason, is_sandbox), number in numbers.items():
        count_validations(reason, "sandbox" if is_sandbox else "batch", number)
