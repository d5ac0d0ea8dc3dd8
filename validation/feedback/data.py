from accounts.models import Account
from runtime.database.batches import delete_in_batches
from validation.models import Feedback


def export_feedback(*, account: Account) -> dict[str, object]:
    rows = Feedback.objects.filter(account=account).order_by("at", "pk").select_related("key")
    documents = [
        {
            "id": feedback.public_id,
            "at": feedback.at,
            "key__public_id": feedback.key and feedback.key.public_id,
            "sent_by": feedback.sent_by,
            "result_id": feedback.result_id,
            "verdict": feedback.verdict,
            "reason": feedback.reason,
            "expected": feedback.expected,
            **feedback.text._asdict(),
            "result": feedback.result,
            "state": feedback.state,
            "answer": feedback.answer,
            "answered_at": feedback.answered_at,
        }
        for feedback in rows
    ]
    return {"feedback": documents}


def delete_feedback(*, account: Account) -> None:
    Feedback.objects.filter(account=account).delete()


def erase_sender(*, email: str) -> None:
    """Erase an erased user's address from other accounts' feedback. A hook."""
    Feedback.objects.filter(sent_by=email).update(sent_by="")


def delete_old_feedback() -> None:
    delete_in_batches(Feedback.objects.expired())
