from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.urls import reverse

from accounts.models import Account
from validation.feedback.services import find_feedback, find_reportable_result
from validation.models import Feedback, LogEntry


@dataclass(frozen=True)
class FeedbackCard:
    title: str
    status: str
    button: str
    feedback: Feedback | None = None
    # Only for members who may send feedback: it may have an address.
    comment: str = ""


def present_feedback(account: Account, entry: LogEntry) -> FeedbackCard | None:
    """Return the card, or None if there is no result."""
    if not entry.verdict or entry.sandbox:
        return None
    feedback = find_feedback(account, entry.result_id)
    is_accepted = find_reportable_result(account, entry.result_id) is not None
    if feedback is not None:
        button = "Replace feedback" if is_accepted else ""
        comment = "This comment can no longer be read."
        if feedback.is_readable:
            comment = feedback.text.comment
        return FeedbackCard("Your feedback", describe_state(feedback), button, feedback, comment)
    if not is_accepted:
        return None
    return FeedbackCard(
        "Is this verdict wrong?",
        "Tell us what you know about the address. We check it, and answer by email and here.",
        "Send feedback",
    )


def describe_state(feedback: Feedback) -> str:
    if feedback.answered_at is None:
        return f"Sent {naturaltime(feedback.at)}. We'll answer by email and here."
    return f"Answered {naturaltime(feedback.answered_at)}."


def feedback_url(account: Account, result: dict[str, Any]) -> str:
    is_stored = account.log_retention_days and settings.RESULT_RETENTION_HOURS
    if result["sandbox"] or not is_stored:
        return ""
    return reverse("validation:send-feedback", args=[result["id"]])
