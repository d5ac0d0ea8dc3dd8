from django.db import models
from django.utils import timezone

from engine import StaffDomains
from validation.models.mail_hosts import NewMailHost


class ListedDomainQuerySet(models.QuerySet["ListedDomain"]):
    def as_staff_domains(self) -> StaffDomains:
        domains: dict[str, set[str]] = {kind: set() for kind in ListedDomain.Kind.values}
        for domain, kind in self.values_list("domain", "kind"):
            domains[kind].add(domain)
        return StaffDomains(
            allowed=frozenset(domains[ListedDomain.Kind.ALLOW]),
            denied=frozenset(domains[ListedDomain.Kind.DENY]),
            disposable_hosts=NewMailHost.objects.disposable(),
        )


class ListedDomain(models.Model):
    """Overrides the disposable domain data for a domain and its subdomains."""

    class Kind(models.TextChoices):
        ALLOW = "allow", "never disposable"
        DENY = "deny", "disposable"

    domain = models.CharField(
        max_length=253,
        unique=True,
        help_text="Includes all subdomains. International names are allowed.",
    )
    kind = models.CharField(max_length=5, choices=Kind.choices, default=Kind.DENY)
    reason = models.CharField(max_length=200, help_text="How you know, for your colleagues.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ListedDomainQuerySet.as_manager()

    class Meta:
        ordering = ["domain"]

    def __str__(self) -> str:
        return f"{self.domain}: {self.get_kind_display()}"
