"""Questions to mail servers whether a mailbox exists: docs/design/mailbox-checks.md."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial

from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts.models import Account
from apikeys.models import ApiKey
from credits.models import Hold
from runtime.database.leased_rows import LeasedQuerySet, LeasedRow


class Check(StrEnum):
    """How far a request wants an address to be checked."""

    DNS = "dns"
    MAILBOX = "mailbox"


class ProbeGroupQuerySet(models.QuerySet["ProbeGroup"]):
    def active(self) -> "ProbeGroupQuerySet":
        open_accounts = self.filter(account__closed_at=None, account__suspended_at=None)
        return open_accounts.filter(is_paused=False, ends_at__gt=timezone.now())

    def ended(self, before: datetime | None = None) -> "ProbeGroupQuerySet":
        """Return those that ended. A paused list is given more time when it's resumed."""
        return self.filter(is_paused=False, ends_at__lte=before or timezone.now())


class ProbeGroup(models.Model):
    """The mailbox checks of a list, which pause and end together."""

    list_id = models.CharField("list ID", max_length=30, unique=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    is_paused = models.BooleanField(default=False)
    ends_at = models.DateTimeField()

    objects = ProbeGroupQuerySet.as_manager()

    def __str__(self) -> str:
        return self.list_id


class ProbeQuerySet(models.QuerySet["Probe"]):
    def waiting(self) -> "ProbeQuerySet":
        return self.filter(done_at=None)

    def due(self) -> "ProbeQuerySet":
        now = timezone.now()
        return self.waiting().filter(Q(ends_at=None) | Q(ends_at__gt=now), next_attempt_at__lte=now)

    def in_vain(self) -> "ProbeQuerySet":
        """Return those of calls that are out of time, or whose host won't be asked in time."""
        paces = MailHostPace.objects.filter(organization=OuterRef("organization"))
        paces = paces.filter(Q(is_off=True) | Q(cooling_until__gt=OuterRef("ends_at")))
        is_refused = Exists(paces.filter(egress=OuterRef("egress")))
        return self.waiting().filter(Q(ends_at__lte=timezone.now()) | is_refused, group=None)


class Probe(models.Model):
    """A mailbox check that a mail server has to answer.

    Its result is the StoredResult with `result_id`: pending until `done_at`, then final. The result
    of a list's check is in `answer` until the list collects it.
    """

    result_id = models.CharField("result ID", max_length=30, unique=True)
    account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="probes", db_index=False
    )
    # Null for the playground.
    key = models.ForeignKey(
        ApiKey, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    hold = models.ForeignKey(
        Hold, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    # Of a list.
    group = models.ForeignKey(
        ProbeGroup, null=True, on_delete=models.CASCADE, related_name="probes", db_index=False
    )
    chunk_id = models.BigIntegerField(null=True)
    # Encrypted. Empty if no answer came.
    answer = models.TextField(blank=True, db_default="")
    request_id = models.CharField(max_length=64)
    batch_id = models.CharField(max_length=30, blank=True)
    # Encrypted, and erased when the check is done.
    email = models.TextField(blank=True)
    address_hash = models.CharField(max_length=32)
    domain = models.CharField(max_length=255)
    # The registrable domain of the mail host that is asked first, and the address we ask from.
    organization = models.CharField("mail organization", max_length=255)
    egress = models.CharField(max_length=100)
    # Conversations so far. A host that greylists is asked again from the same egress.
    tries = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, default=timezone.now)
    # When the check ends as unknown. Null: with its group.
    ends_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    done_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=40, blank=True)
    # A response said that the check is pending, so its end is an event.
    is_announced = models.BooleanField(default=False)

    objects = ProbeQuerySet.as_manager()

    class Meta:
        verbose_name = "mailbox check"
        constraints = [
            models.CheckConstraint(
                condition=Q(done_at=None, next_attempt_at__isnull=False)
                | Q(done_at__isnull=False, next_attempt_at=None, email=""),
                name="probe_has_a_next_attempt_until_done",
            )
        ]
        indexes = [
            models.Index(
                fields=["group", "organization", "egress", "next_attempt_at"],
                condition=Q(done_at=None),
                name="probe_due",
            ),
            models.Index(
                fields=["chunk_id"], condition=Q(chunk_id__isnull=False), name="probe_of_chunk"
            ),
            models.Index(fields=["account", "domain", "done_at"], name="probe_done_by_domain"),
            models.Index(fields=["address_hash"], name="probe_by_address"),
            models.Index(fields=["created_at"], name="probe_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.result_id} at {self.organization}"


class MailHostPaceQuerySet(LeasedQuerySet["MailHostPace"]):
    def ensure(self, paces: Iterable[tuple[str, str]]) -> None:
        """Create the rows of new organizations and egresses, and wake them after the commit."""
        # In order, so that concurrent transactions don't wait for each other.
        names = sorted(set(paces))
        rows = [MailHostPace(organization=name, egress=egress) for name, egress in names]
        self.bulk_create(rows, ignore_conflicts=True)
        transaction.on_commit(partial(self._wake, names))

    def _wake(self, paces: Sequence[tuple[str, str]]) -> None:
        for organization, egress in paces:
            idle = self.filter(organization=organization, egress=egress, is_idle=True)
            idle.update(is_idle=False)

    def wake_due(self) -> None:
        """Wake those with checks that have become due, such as retries and resumed lists."""
        checks = Probe.objects.due().filter(
            organization=OuterRef("organization"), egress=OuterRef("egress")
        )
        of_lists = checks.filter(group__in=ProbeGroup.objects.active())
        is_due = Exists(checks.filter(group=None)) | Exists(of_lists)
        with transaction.atomic():
            idle = self.filter(is_due, is_idle=True).select_for_update(skip_locked=True)
            self.filter(pk__in=list(idle.values_list("pk", flat=True))).update(is_idle=False)

    def refusing(self, until: datetime) -> "MailHostPaceQuerySet":
        """Return those that won't be asked until then."""
        return self.filter(Q(is_off=True) | Q(cooling_until__gt=until))

    def due(self) -> "MailHostPaceQuerySet":
        """Leave out those that are cooling down or off."""
        now = timezone.now()
        ready = self.filter(Q(cooling_until=None) | Q(cooling_until__lte=now), is_off=False)
        return ready.filter(is_idle=False, next_at__lte=now).order_by("next_at", "pk")


class MailHostPace(LeasedRow):
    """How often we ask a mail organization from one egress address.

    A process leases this row, not a probe, so that the pace holds for all processes together.
    """

    # A turn, and the longest conversation.
    LEASE = timedelta(minutes=3)
    # Conversations per second.
    START_RATE, MIN_RATE, RECOVERY = 1.0, 1 / 60, 1.1
    COOLING, LONG_COOLING = timedelta(minutes=15), timedelta(hours=24)
    MAX_REFUSALS = 3

    organization = models.CharField("mail organization", max_length=255)
    egress = models.CharField(max_length=100)
    rate = models.FloatField("conversations per second", default=START_RATE)
    # When the next conversation may start.
    next_at = models.DateTimeField(default=timezone.now)
    # No check is due, so no process has to look.
    is_idle = models.BooleanField(default=False, db_default=False)
    refusals_in_row = models.PositiveSmallIntegerField(default=0)
    cooling_until = models.DateTimeField(null=True, blank=True)
    is_off = models.BooleanField("off", default=False, help_text="Ask none of its mailboxes.")
    # For staff.
    conversations = models.PositiveIntegerField(default=0)
    refusals = models.PositiveIntegerField(default=0)
    last_reply = models.CharField(max_length=200, blank=True)
    last_reply_at = models.DateTimeField(null=True)

    objects = MailHostPaceQuerySet.as_manager()

    class Meta:
        verbose_name = "mail organization"
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "egress"], name="one_pace_for_an_egress"
            )
        ]
        ordering = ["organization", "egress"]
        indexes = [
            models.Index(fields=["next_at"], condition=Q(is_idle=False), name="pace_with_checks")
        ]

    def __str__(self) -> str:
        return f"{self.organization} from {self.egress}"

    @property
    def is_cooling(self) -> bool:
        return self.cooling_until is not None and self.cooling_until > timezone.now()

    def record(self, reply: str, *, refused_us: bool) -> None:
        """Count a conversation, slow down after a refusal, and recover after other replies."""
        now = timezone.now()
        self.conversations += 1
        self.last_reply, self.last_reply_at = reply[:200], now
        if refused_us:
            self.refusals += 1
            self.refusals_in_row += 1
            self.rate = max(self.rate / 2, self.MIN_RATE)
            is_long = self.refusals_in_row >= self.MAX_REFUSALS
            self.cooling_until = now + (self.LONG_COOLING if is_long else self.COOLING)
        else:
            self.refusals_in_row = 0
            self.rate = min(self.rate * self.RECOVERY, self.START_RATE)
        self.save(
            update_fields=[
                *("conversations", "last_reply", "last_reply_at", "refusals", "refusals_in_row"),
                *("rate", "cooling_until"),
            ]
        )


class MailboxCheckDay(models.Model):
    """The number of mailbox checks of an account on a day (UTC), for plans with a daily limit."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    number = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "day"], name="one_number_for_a_day")
        ]

    def __str__(self) -> str:
        return f"{self.number} on {self.day}"
