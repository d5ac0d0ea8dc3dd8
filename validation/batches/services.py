"""Validate a batch: look for a replay, run the checks, charge, and build the response."""

import collections
import time
from collections.abc import Iterable, Sequence
from weakref import WeakValueDictionary

import orjson
from django.conf import settings

from accounts.engine import get_engine
from accounts.models import Account
from apikeys.errors import REFUSALS
from credits.wallet.charges import InsufficientCredits
from credits.wallet.key_limits import KeyCreditLimitReached
from runtime.http import fairness
from runtime.metrics.client import Counter
from runtime.tracing import traced
from validation.batches.settlement import Batch, charge_and_record_batch
from validation.charging.settlement import Validation, ValidationResponse
from validation.domain_data import account_domains
from validation.engine.batch import LookupShare, check_all
from validation.engine.sandbox import sandbox_finding, sandbox_word
from validation.engine.verdicts.finding import Finding
from validation.ids import new_result_ids
from validation.lookup_limits import AccountLookupLimit
from validation.models import ReplayExists
from validation.request_log import writer
from validation.request_log.writer import Caller
from validation.services import count_validations, find_stored_response, price_of

MAX_ADDRESSES = 100
# Lookups that the batches of one account have in progress in one worker. The engine runs 400, so
# many are left for other accounts.
LOOKUPS_PER_ACCOUNT = 40
# Longer than the resolver's time limit, so that only a lookup that waited for its share is cut.
GRACE_SECONDS = 1.0

batches = Counter("emailvalidation_batches", "Completed batches.")


def price_of_batch(emails: Sequence[str]) -> int:
    """Return the most that the batch can cost, without running any check."""
    return sum(map(price_of, dict.fromkeys(emails)))


def find_replay(
    *, caller: Caller, idempotency_key: str, emails: Sequence[str]
) -> ValidationResponse | None:
    return find_stored_response(caller, idempotency_key, lambda replay: replay.is_for_batch(emails))


def replay_batch(*, caller: Caller, response: ValidationResponse) -> ValidationResponse:
    """Log the replay and return the stored response."""
    writer.write_batch_replay(caller, orjson.loads(response.body))
    return response


@fairness.long_request()
def validate_batch(
    *, caller: Caller, emails: Sequence[str], idempotency_key: str | None
) -> ValidationResponse:
    batch = _check(caller, emails)
    batch.idempotency_key = idempotency_key
    try:
        response = charge_and_record_batch(batch)
    except (ReplayExists, InsufficientCredits, KeyCreditLimitReached):
        # Two requests raced with one key, and the first was charged: both get its response.
        first = idempotency_key and find_replay(
            caller=caller, idempotency_key=idempotency_key, emails=emails
        )
        if not first:
            raise
        return replay_batch(caller=caller, response=first)
    batches.inc()
    return response


@traced("check batch", lambda batch: {"emailvalidation.addresses": len(batch.emails)})
def _check(caller: Caller, emails: Sequence[str]) -> Batch:
    started = time.perf_counter()
    distinct = list(dict.fromkeys(emails))
    words = {email: sandbox_word(email) for email in distinct}
    real = [email for email in distinct if words[email] is None]
    findings = check_all(
        get_engine(),
        real,
        seconds=settings.DNS_TIMEOUT + GRACE_SECONDS,
        share=_share_of(caller.account),
        limit=AccountLookupLimit(caller.account),
        turn=fairness.turn,
        pause=fairness.let_others_run,
        wait_in_line=fairness.wait_in_line,
    )
    domains = account_domains.domains_of(caller.account)
    found = dict(zip(real, map(domains.mark, findings), strict=True))
    for email, word in words.items():
        if word is not None:
            found[email] = _simulate(email, word)
    duration_ms = round((time.perf_counter() - started) * 1000)
    each_ms, ids = duration_ms // len(distinct), new_result_ids(len(distinct))
    validations = [
        Validation(caller, email, found[email], words[email] is not None, each_ms, id=result_id)
        for email, result_id in zip(distinct, ids, strict=True)
    ]
    _count(validations)
    return Batch(caller, emails, validations, duration_ms)


def _count(validations: Iterable[Validation]) -> None:
    """Count the results of each reason together: a counter's update takes a microsecond."""
    numbers = collections.Counter((each.finding.reason, each.is_sandbox) for each in validations)
    for (reason, is_sandbox), number in numbers.items():
        count_validations(reason, "sandbox" if is_sandbox else "batch", number)


def _simulate(email: str, word: str) -> Finding:
    """Return the sandbox's finding. An error fails this address, not the whole batch."""
    word = "check_failed" if word in REFUSALS else word
    return sandbox_finding(get_engine().check_without_dns(email), word)


def _share_of(account: Account) -> LookupShare:
    """Return the account's share of lookups, which exists while a batch uses it."""
    return _shares.get(account.pk) or _shares.setdefault(
        account.pk, LookupShare(LOOKUPS_PER_ACCOUNT)
    )


_shares: WeakValueDictionary[int, LookupShare] = WeakValueDictionary()
