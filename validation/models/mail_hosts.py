from datetime import timedelta

from django.db import models
from django.utils import timezone

NEW_FOR = timedelta(days=7)
# So many new domains within a week make a mail host worth a look.
CONSPICUOUS_DOMAINS = 20


class NewMailHostQuerySet(models.QuerySet["NewMailHost"]):
    def undecided(self) -> "NewMailHostQuerySet":
        return self.filter(decision=NewMailHost.Decision.OPEN, number__gte=CONSPICUOUS_DOMAINS)

    def disposable(self) -> frozenset[str]:
        rows = self.filter(decision=NewMailHost.Decision.DISPOSABLE)
        return frozenset(rows.values_list("host", flat=True))


class NewMailHost(models.Model):
    """An owner of mail hosts, and the domains of the last week for which it began to take mail."""

    class Decision(models.TextChoices):
        OPEN = "open", "Open"
        DISPOSABLE = "disposable", "Disposable"
        LEGITIMATE = "legitimate", "Legitimate"

    # A registrable domain, in ASCII.
    host = models.CharField(max_length=253, unique=True)
    # By domain, the day (UTC) on which it was looked up.
    domains = models.JSONField(default=dict)
    number = models.PositiveIntegerField("new domains", default=0)
    decision = models.CharField(max_length=10, choices=Decision, default=Decision.OPEN)

    objects = NewMailHostQuerySet.as_manager()

    class Meta:
        verbose_name = "new mail host"
        ordering = ["-number", "host"]

    def __str__(self) -> str:
        return self.host

    def forget_old_domains(self) -> None:
        first = f"{timezone.now() - NEW_FOR:%Y-%m-%d}"
        self.domains = {domain: day for domain, day in self.domains.items() if day >= first}
        self.number = len(self.domains)
