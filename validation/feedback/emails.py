from django.conf import settings

from accounts.emails import link, queue_email
from accounts.roles import Role
from validation.event_types import FEEDBACK_ANSWERED
from validation.models import Feedback
from validation.request_log.search import find_result

# They get the answer if the sender has left the account.
_FALLBACK_ROLES = (Role.OWNER, Role.ADMIN)


def queue_feedback_answered(feedback: Feedback) -> None:
    account = feedback.account
    entry = find_result(account, feedback.result_id)
    url = f"{settings.BASE_URL}{entry.get_absolute_url()}" if entry else ""
    context = {
        "feedback": feedback,
        "account": account,
        "event_type": FEEDBACK_ANSWERED,
        "link": url or link("validation:show-requests"),
    }
    members = account.memberships.order_by("pk")
    sender = members.filter(user__email=feedback.sent_by)
    recipients = sender if sender.exists() else members.filter(role__in=_FALLBACK_ROLES)
    for to in recipients.values_list("user__email", flat=True):
        queue_email(to, "validation/mails/feedback_answered", context)
