import collections
import time
from collections.abc import Iterable, Sequence
from weakref import WeakValueDictionary

import orjson
from django.conf import settings
from django.utils import timezone

from accounts.engine import get_engine
from apikeys.errors import REFUSALS
from credits.wallet.charges import InsufficientCredits
from credits.wallet.key_limits import KeyCreditLimitReached
from engine import LookupShare, sandbox_word
from runtime.metrics.client import Counter
from runtime.tracing import traced
from validation.account_domains import matching
from validation.batches.settlement import Batch, charge_and_record_batch, digest_of
from validation.charging.settlement import Validation, ValidationResponse, count_validations
from validation.ids import new_result_ids
from validation.lookup_limits import AccountLookupLimit
from validation.models import ReplayExists
from validation.request_log import writer
from validation.request_log.writer import Caller
from validation.services import find_stored_response, price_of

MAX_ADDRESSES = 100
# The limit of each worker. The engine runs 400.
LOOKUPS_PER_ACCOUNT = 40
GRACE_SECONDS = 1.0

_shares: WeakValueDictionary[int, LookupShare] = WeakValueDictionary()

batches = Counter("emailvalidation_batches", "Completed batches.")


def price_of_batch(emails: Sequence[str]) -> int:
    return sum(map(price_of, dict.fromkeys(emails)))


def find_replay(
    *, caller: Caller, idempotency_key: str, emails: Sequence[str]
) -> ValidationResponse | None:
    return find_stored_response(caller, idempotency_key, digest_of(emails))


def replay_batch(*, caller: Caller, response: ValidationResponse) -> ValidationResponse:
    batch = orjson.loads(response.body)
    results = (result for result in batch["results"] if result["duplicate_of"] is None)
    writer.write_replay(caller, results, path=writer.BATCH_PATH, batch_id=batch["id"])
    return response


def validate_batch(
    *, caller: Caller, emails: Sequence[str], idempotency_key: str | None
) -> ValidationResponse:
    batch = _check(caller, emails)
    batch.idempotency_key = idempotency_key
    try:
        response = charge_and_record_batch(batch)
    except (ReplayExists, InsufficientCredits, KeyCreditLimitReached):
        # Another request with the key was charged first: both get its response.
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
    account_id = caller.account.pk
    share = _shares.get(account_id) or _shares.setdefault(
        account_id, LookupShare(LOOKUPS_PER_ACCOUNT)
    )
    findings = get_engine().check_many(
        real,
        seconds=settings.DNS_TIMEOUT + GRACE_SECONDS,
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
    each_ms, ids, now = duration_ms // len(distinct), new_result_ids(len(distinct)), timezone.now()
    validations = [
        Validation(
            *(caller, email, found[email], words[email] is not None, each_ms),
            id=result_id,
            created_at=now,
        )
        for email, result_id in zip(distinct, ids, strict=True)
    ]
    _count(validations)
    return Batch(caller, emails, validations, duration_ms)


def _count(validations: Iterable[Validation]) -> None:
    numbers = collections.Counter((each.finding.reason, each.is_sandbox) for each in validations)
    for (reason, is_sandbox), number in numbers.items():
        count_validations(reason, "sandbox" if is_sandbox else "batch", number)
