from django.db.models import Min
from django.utils import timezone

from runtime.dates import seconds_since
from runtime.metrics.client import Counter, LatestGauge
from validation.models import MailHostPace, Probe

conversations = Counter(
    "emailvalidation_mailbox_conversations",
    "Conversations with mail servers, by the class of the reply. none: no reply.",
    ("reply",),
)
waiting = LatestGauge(
    "emailvalidation_mailbox_checks_waiting", "Mailbox checks that wait for a mail server."
)
overdue = LatestGauge(
    "emailvalidation_mailbox_checks_overdue_seconds",
    "How long the mailbox check that is due the longest has been due, without those of lists.",
)
cooling = LatestGauge(
    "emailvalidation_mail_organizations_cooling",
    "Mail organizations that aren't asked for a while, because they refused us.",
)


def measure() -> None:
    waiting.set(Probe.objects.waiting().count())
    overdue.set(overdue_seconds())
    cooling.set(MailHostPace.objects.filter(cooling_until__gt=timezone.now()).count())


def overdue_seconds() -> float:
    # Those of lists are due from the start, and wait for the paces of their hosts.
    due = Probe.objects.waiting().filter(group=None).aggregate(at=Min("next_attempt_at"))
    return seconds_since(due["at"])
