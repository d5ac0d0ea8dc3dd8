from django.db.models import Count, Min, Q
from django.utils import timezone

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
    now = timezone.now()
    # Those of lists are due from the start, and wait for the paces of their hosts.
    due = Min("next_attempt_at", filter=Q(group=None))
    queue = Probe.objects.waiting().aggregate(count=Count("pk"), due=due)
    waiting.set(queue["count"])
    overdue.set(max(0.0, (now - queue["due"]).total_seconds()) if queue["due"] else 0)
    cooling.set(MailHostPace.objects.filter(cooling_until__gt=now).count())
