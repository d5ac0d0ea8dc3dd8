"""Email the answer to feedback."""

from django.conf import settings

from accounts.emails import link, queue_email
from accounts.roles import Role
from validation.models import Feedback, LogEntry

# They get the answer if the sender has left the account.
_FALLBACK_ROLES = (Role.OWNER, Role.ADMIN)


def queue_feedback_answered(feedback: Feedback) -> None:
    context = {"feedback": feedback, "account": feedback.account, "link": _find_link(feedback)}
    for to in _recipients(feedback):
        queue_email(to, "validation/mails/feedback_answered", context)


def _recipients(feedback: Feedback) -> list[str]:
    members = feedback.account.memberships.order_by("pk")
    if members.filter(user__email=feedback.sent_by).exists():
        return [feedback.sent_by]
    return list(members.filter(role__in=_FALLBACK_ROLES).values_list("user__email", flat=True))


def _find_link(feedback: Feedback) -> str:
    """Return the page of the request, or the request log if it is no longer stored."""
    entries = LogEntry.objects.retained_for(feedback.account)
    entry = entries.with_result(feedback.result_id).order_by("at").first()
    if entry is None:
        return link("validation:show-requests")
    return f"{settings.BASE_URL}{entry.get_absolute_url()}"
