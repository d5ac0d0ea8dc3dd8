"""One validation: look for a replay, check, record, answer. The only place that knows all of it."""

import time
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from accounts.models import Account
from apikeys.answers import render
from apikeys.errors import ApiError
from validation.engine.check import check
from validation.engine.sandbox import sandbox_finding, sandbox_word
from validation.engine.verdict import Finding
from validation.ids import result_id
from validation.models import Replay


@dataclass(frozen=True)
class Answer:
    body: bytes
    replayed: bool = False


def find_replay(*, account: Account, idempotency_key: str, email: str) -> Answer | None:
    replay = Replay.objects.find(account, idempotency_key)
    return _replayed(replay, email) if replay else None


def validate(*, account: Account, email: str, idempotency_key: str | None) -> Answer:
    started = time.perf_counter()
    word = sandbox_word(email)
    finding = check(email) if word is None else sandbox_finding(email, word)
    body = render(_document(finding, started, sandbox=word is not None))
    if idempotency_key is None or not (finding.is_definite or word is not None):
        return Answer(body)
    return _record(account, email, idempotency_key, body)


def _record(account: Account, email: str, idempotency_key: str, body: bytes) -> Answer:
    with transaction.atomic():
        replay, is_ours = Replay.objects.keep(account, idempotency_key, email, body)
    return Answer(body) if is_ours else _replayed(replay, email)


def _replayed(replay: Replay, email: str) -> Answer:
    if not replay.is_for(email):
        raise ApiError("idempotency_key_reused", param="Idempotency-Key")
    return Answer(replay.body.encode(), replayed=True)


def _document(finding: Finding, started: float, *, sandbox: bool) -> dict[str, object]:
    return {
        "id": result_id(),
        "created_at": timezone.now(),
        "sandbox": sandbox,
        **finding.document(),
        "duration_ms": round((time.perf_counter() - started) * 1000),
        "dns_cached": None,
        "credits": {"charged": None, "remaining": None},
    }
