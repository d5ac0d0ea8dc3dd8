from django.conf import settings

from accounts.events.types import EventType, integer, text
from engine import Verdict
from validation.models import Feedback

FEEDBACK_ANSWERED = EventType(
    "feedback.answered",
    "Feedback answered",
    "Our staff answered your feedback on a result. The answer is on the result's page.",
    {
        "id": text("ID of the feedback (`fbk_…`)", "fbk_3Ng8PzXrW5kQvTd7YcJb"),
        "result": text("ID of the result (`val_…`)", "val_01KAH7Z8Q4M2T9V5X3B6C0D1EF"),
        "expected": text("What you expected", "deliverable", values=Feedback.Expected.values),
    },
    is_emailed=True,
)
CHECK_COMPLETED = EventType(
    "check.completed",
    "Mailbox check completed",
    "A mailbox check that had been pending has its final result.",
    {
        "id": text("ID of the result (`val_…`)", "val_01KAH7Z8Q4M2T9V5X3B6C0D1EF"),
        "verdict": text("The verdict", "deliverable", values=[each.value for each in Verdict]),
        "reason": text("The main reason for the verdict", "mailbox_accepted"),
        "credits": integer("Credits charged", 2),
    },
    is_offered=settings.PROBE_MAILBOX_CHECKS,
)
