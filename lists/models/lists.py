import logging
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q, Sum
from django.utils import timezone

from accounts import audit
from accounts.models import Account
from apikeys.actor import Actor
from apikeys.errors import ApiError
from apikeys.models import ApiKey
from credits.models import Hold
from engine import Verdict
from lists.files.cells import read_address
from lists.models.managers import DeletedListManager, ListManager
from lists.models.progress import ListProgress
from lists.models.states import (
    FINAL,
    HOLDING_CREDITS,
    STATES_BEFORE,
    UNREAD,
    WORKABLE,
    ListState,
)
from runtime.database.leased_rows import LeasedRow
from runtime.ids import random_id
from validation.probes import groups
from validation.validations import MAILBOX_PRICE, PRICE

logger = logging.getLogger(__name__)

# After a process was killed, others wait this long. Heartbeats renew leases.
LEASE = timedelta(seconds=30)
_DOWNLOADABLE = FINAL - {ListState.EXPIRED} | {ListState.PAUSED, ListState.RECHECKING}


def list_id() -> str:
    return random_id("lst")


class Dedupe(models.TextChoices):
    ADDRESS = "address", "The same address"
    MAILBOX = "mailbox", "The same mailbox, behind aliases"
    OFF = "off", "No"


class VerdictCounts(models.Model):
    deliverable = models.PositiveIntegerField(default=0)
    risky = models.PositiveIntegerField(default=0)
    undeliverable = models.PositiveIntegerField(default=0)
    unknown = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True

    @property
    def verdict_counts(self) -> dict[str, int]:
        return {verdict.value: getattr(self, verdict.value) for verdict in Verdict}


class AddressList(LeasedRow, VerdictCounts, ListProgress):
    LEASE = LEASE

    public_id = models.CharField(max_length=30, unique=True, editable=False, default=list_id)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="lists")
    # The key that started it or, before that, created it. Null for the dashboard.
    key = models.ForeignKey(ApiKey, null=True, on_delete=models.SET_NULL, related_name="+")
    # Users can be erased, so this is no foreign key.
    created_by = models.CharField(max_length=254)
    name = models.CharField(max_length=100)
    metadata = models.JSONField(default=dict)

    error_code = models.CharField(max_length=40, blank=True)
    error_message = models.CharField(max_length=300, blank=True)

    content_type = models.CharField(max_length=100, blank=True)
    # The customer's choice. Empty if it is detected.
    encoding = models.CharField(max_length=20, blank=True, db_default="")
    # The list whose rows this one checks again.
    rerun_of = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    delimiter = models.CharField(max_length=1, blank=True)
    has_header = models.BooleanField(null=True)
    column = models.PositiveIntegerField(null=True)
    # Check the address in cells such as “Jane <jane@shop.example>”, or the first of several.
    extracts_addresses = models.BooleanField(default=False, db_default=False)
    dedupe = models.CharField(max_length=7, choices=Dedupe, default=Dedupe.ADDRESS)
    rechecks_unknown = models.BooleanField(default=True)
    starts_when_ready = models.BooleanField(default=False)
    # Start even if most cells are no addresses.
    is_confirmed = models.BooleanField(default=False, db_default=False)
    max_credits = models.PositiveBigIntegerField(null=True)

    # Found while parsing.
    bytes = models.PositiveBigIntegerField(default=0)
    rows = models.PositiveIntegerField(default=0)
    empty = models.PositiveIntegerField(default=0)
    not_address = models.PositiveIntegerField(default=0)
    bad_syntax = models.PositiveIntegerField(default=0)
    duplicates = models.PositiveIntegerField(default=0)
    # Those of the sandbox, which are free.
    sandbox_addresses = models.PositiveIntegerField(default=0, db_default=0)

    hold = models.ForeignKey(Hold, null=True, on_delete=models.PROTECT, related_name="+")
    # Of the results, those that are safe to send to.
    safe = models.PositiveIntegerField(default=0, db_default=0)
    # Counts of results by reason, and of mistyped domains.
    reasons = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    typos = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    # When a process last took a chunk. The longest wait is served next.
    served_at = models.DateTimeField(null=True)

    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    paused_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    # Hidden until all rows are erased.
    deleted_at = models.DateTimeField(null=True)

    objects = ListManager()
    deleted = DeletedListManager()

    class Meta:
        verbose_name = "list"
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["account", "-created_at"], name="list_by_account"),
            models.Index(
                fields=["state"],
                condition=~Q(state__in=("completed", "canceled", "failed", "expired")),
                name="list_unfinished",
            ),
            models.Index(fields=["expires_at"], name="list_by_expiry"),
            models.Index(
                fields=["deleted_at"], condition=Q(deleted_at__isnull=False), name="list_deleted"
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=list(ListState)), name="list_state_is_known"
            ),
            models.CheckConstraint(
                condition=Q(
                    checked=F("deliverable") + F("risky") + F("undeliverable") + F("unknown")
                ),
                name="list_counts_add_up",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.state})"

    @property
    def price(self) -> int:
        """Return the most that the list can cost."""
        return self.mailbox_price if self.checks_mailboxes else self.domain_price

    @property
    def domain_price(self) -> int:
        return PRICE * (self.addresses - self.sandbox_addresses)

    @property
    def mailbox_price(self) -> int:
        return MAILBOX_PRICE * (self.addresses - self.sandbox_addresses)

    @property
    def unit_price(self) -> int:
        return MAILBOX_PRICE if self.checks_mailboxes else PRICE

    @property
    def remaining_price(self) -> int:
        """Return the most that the addresses without a definite result can cost."""
        definite = self.deliverable + self.risky + self.undeliverable
        return min(self.price - self.charged, self.unit_price * (self.addresses - definite))

    @property
    def charged(self) -> int:
        """Add up all holds: if a deduction cancels one, the list gets another."""
        if self.hold is None:
            return 0
        source = f"list:{self.public_id}"
        if self.hold.source == source:
            return self.hold.charged
        count = int(self.hold.source.rpartition(":")[2])
        sources = [source, *(f"{source}:{number}" for number in range(2, count + 1))]
        return Hold.objects.filter(source__in=sources).aggregate(sum=Sum("charged"))["sum"] or 0

    def address_in(self, row: Sequence[str]) -> str:
        return read_address(row, self.column or 0, extracts=self.extracts_addresses)

    @property
    def was_parsed(self) -> bool:
        return hasattr(self, "parsed")

    @property
    def phase(self) -> str:
        """Return the state that customers see."""
        is_starting = self.state == ListState.READY and self.starts_when_ready
        return ListState.PARSING if is_starting else self.state

    @property
    def is_changing(self) -> bool:
        return self.phase in WORKABLE | UNREAD

    @property
    def can_pause(self) -> bool:
        return self.state in WORKABLE

    @property
    def can_cancel(self) -> bool:
        return self.state in HOLDING_CREDITS - {ListState.RECHECKING}

    @property
    def can_download(self) -> bool:
        return self.state in _DOWNLOADABLE and self.checked > 0

    @property
    def can_run_again(self) -> bool:
        return self.rows > 0 and self.state in FINAL - {ListState.EXPIRED}

    @property
    def needs_confirmation(self) -> bool:
        """Return whether this may be the wrong column."""
        return 2 * self.not_address > self.rows - self.empty

    def change_state(self, new: ListState, **changes: object) -> bool:
        """Change the state in a conditional UPDATE. Return False if it isn't allowed."""
        now = timezone.now()
        values: dict[str, object] = {
            "state": new,
            "updated_at": now,
            "leased_until": None,
            "attempts": 0,
        }
        if new != ListState.EXPIRED:
            expires = new in FINAL or new == ListState.READY
            retention = timedelta(days=settings.LIST_RETENTION_DAYS)
            values["expires_at"] = now + retention if expires else None
            if new in FINAL:
                values["finished_at"] = now
        values |= changes
        before = AddressList.objects.filter(pk=self.pk, state__in=STATES_BEFORE[new])
        if not before.update(**values):
            return False
        for name, value in values.items():
            setattr(self, name, value)
        log = partial(logger.info, "List %s is %s", self.public_id, new.value)
        transaction.on_commit(log)
        if self.checks_mailboxes and new in FINAL:
            groups.follow_list(self.public_id, is_paused=False, ends_at=now)
        elif self.checks_mailboxes:
            groups.follow_list(self.public_id, is_paused=new == ListState.PAUSED)
        return True

    def invalid_state(self, message: str, param: str | None = None, **details: object) -> ApiError:
        details = {"state": self.phase, **details}
        return ApiError("invalid_state", message, param=param, details=details)

    def record(self, actor: Actor | None, action: str) -> None:
        """Add an audit entry. The service's `actor` is None."""
        target = f"{self.name} ({self.public_id})"
        if actor is None:
            audit.record(self.account, None, action, target)
        else:
            actor.record(action, target)


class ParsedList(models.Model):
    list = models.OneToOneField(
        AddressList, primary_key=True, on_delete=models.CASCADE, related_name="parsed"
    )
    # Encrypted, because it has the first rows.
    preview = models.BinaryField()
    # Cells in the widest row.
    width = models.PositiveIntegerField()
    # A bit for each row that later ones repeat: downloads keep its result.
    repeated = models.BinaryField()

    def __str__(self) -> str:
        return f"Parsed {self.list_id}"
