"""What accounts, staff and releases of the domain data say about domains."""

from datetime import timedelta

from django.db import models
from django.utils import timezone

from accounts.models import Account
from engine import StaffDomains

NEW_FOR = timedelta(days=7)
# So many new domains within a week make a mail host worth a look.
CONSPICUOUS_DOMAINS = 20


class AccountDomains(models.Model):
    """Stores the domains that an account allows or denies, with their subdomains.

    `Account.domains_version` identifies their content: a metered call reads that with its key, and
    needs this row only if it changed.
    """

    account = models.OneToOneField(Account, on_delete=models.CASCADE, related_name="domains")
    allowed = models.JSONField(default=list)
    denied = models.JSONField(default=list)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = verbose_name_plural = "own domains"

    def __str__(self) -> str:
        return f"Domains of {self.account}"

    @property
    def etag(self) -> str:
        return f'"{self.account.domains_version or 0:x}"'

    def document(self) -> dict[str, list[str]]:
        return {"allowed": self.allowed, "denied": self.denied}


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


class StoredDataRelease(models.Model):
    """The newest release of the domain data, in the only row."""

    created_at = models.DateTimeField()
    stored_at = models.DateTimeField(default=timezone.now)
    archive = models.BinaryField()

    class Meta:
        verbose_name = "domain data"
        verbose_name_plural = "domain data"

    def __str__(self) -> str:
        return f"{self.created_at:%Y-%m-%d}"
