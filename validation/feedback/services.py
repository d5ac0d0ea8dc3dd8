"""Sending feedback shares the full address with staff."""

from datetime import timedelta
from typing import Any

import orjson
from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.events import record_event
from accounts.models import Account, User
from apikeys.actor import Actor
from runtime.metrics.client import Counter
from validation.addresses import address_hash, mask_address
from validation.event_types import FEEDBACK_ANSWERED
from validation.feedback import emails
from validation.ids import is_result_id, result_created_at
from validation.models import Feedback, FeedbackText
from validation.models.feedback import feedback_id
from validation.results import stored_results

FEEDBACK_PER_DAY = 100
MAX_RESULT_AGE = timedelta(hours=24)
MAX_COMMENT_LENGTH, MAX_BOUNCE_LENGTH = 500, 4096

feedback_sent = Counter(
    "emailvalidation_feedback",
    "Feedback on verdicts, by the result's reason and by what the customer expected.",
    ("reason", "expected"),
)


def find_reportable_result(account: Account, result_id: str) -> dict[str, Any] | None:
    created_at = result_created_at(result_id) if is_result_id(result_id) else None
    if created_at is None or created_at <= timezone.now() - MAX_RESULT_AGE:
        return None
    return stored_results.find_result(account, result_id, balance=0)


@transaction.atomic
def send_feedback(
    *,
    sender: Actor,
    result: dict[str, Any],
    expected: str,
    comment: str | None = None,
    bounce: str | None = None,
) -> Feedback:
    """Store feedback, in place of earlier feedback on the result."""
    if result["sandbox"]:
        return Feedback(public_id=feedback_id())
    # The lock keeps concurrent requests within the limit.
    account = Account.objects.select_for_update(no_key=True).get(pk=sender.account.pk)
    earlier = Feedback.objects.filter(account=account, result_id=result["id"])
    if not earlier.exists():
        others = Feedback.objects.filter(account=account)
        others.require_room(FEEDBACK_PER_DAY, f"send feedback on {FEEDBACK_PER_DAY} results")
    user = sender.user or (sender.key and sender.key.created_by)
    document = orjson.dumps(result).decode()
    text = FeedbackText(result["email"], comment or "", bounce or "", document)
    feedback, _ = Feedback.objects.update_or_create(
        account=account,
        result_id=result["id"],
        defaults={
            "key": sender.key,
            "sent_by": user.email if user else "",
            "at": timezone.now(),
            "domain": result["ascii_domain"] or "",
            "verdict": result["verdict"],
            "reason": result["reason"],
            "expected": expected,
            "address_hash": address_hash(result["email"]),
            "packed": Feedback.pack(text),
            "state": Feedback.State.OPEN,
            "answer": "",
            "answered_at": None,
        },
    )
    address = mask_address(result["email"], result["domain"])
    sender.record("feedback.sent", f"{address} ({feedback.public_id}): {feedback.expected}")
    transaction.on_commit(feedback_sent.labels(feedback.reason, feedback.expected).inc)
    return feedback


def find_feedback(account: Account, result_id: str) -> Feedback | None:
    if not result_created_at(result_id):
        return None
    return Feedback.objects.filter(account=account, result_id=result_id).first()


@transaction.atomic
def answer_feedback(*, feedback: Feedback, answer: str, actor: User) -> bool:
    """Store and email the answer. Return False if it was answered before."""
    is_answered = (
        Feedback.objects.open()
        .filter(pk=feedback.pk, at=feedback.at)
        .update(state=Feedback.State.ANSWERED, answer=answer, answered_at=timezone.now())
    )
    if is_answered:
        feedback.refresh_from_db()
        audit.record(feedback.account, actor, "feedback.answered", feedback.public_id)
        emails.queue_feedback_answered(feedback)
        ids = {"id": feedback.public_id, "result": feedback.result_id}
        record_event(feedback.account, FEEDBACK_ANSWERED, {**ids, "expected": feedback.expected})
    return bool(is_answered)
