"""Lists: files of addresses that are validated in the background.

A list is parsed into chunks of rows, which any process may claim. Whatever customers uploaded is
encrypted: parts of files, rows and results. `ListAddress` finds an address by its keyed hash only.
"""

from datetime import timedelta

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import Account
from apikeys.models import ApiKey
from credits.models import Hold
from runtime.database.leased_rows import LeasedQuerySet, LeasedRow
from runtime.ids import random_id
from validation.models.list_states import UNFINISHED, WORKABLE, State

CHUNK_ROWS = 1_000
# After a process was killed, another one waits this long. A heartbeat renews the leases of others.
LEASE = timedelta(seconds=30)


def list_id() -> str:
    return random_id("lst")


class Dedupe(models.TextChoices):
    ADDRESS = "address", "The same address"
    MAILBOX = "mailbox", "The same mailbox, behind aliases"
    OFF = "off", "No"


class AddressListQuerySet(LeasedQuerySet["AddressList"]):
    def due(self) -> "AddressListQuerySet":
        """Return the lists to parse. Their chunks are claimed one by one after that."""
        return self.of_active_accounts().filter(state=State.PARSING).order_by("updated_at", "pk")

    def of_active_accounts(self) -> "AddressListQuerySet":
        return self.filter(account__closed_at=None, account__suspended_at=None)

    def lock(self, address_list: "AddressList") -> "AddressList":
        """Return the row, locked until the transaction ends. Lock it before the wallet."""
        return self.select_for_update().defer("preview").get(pk=address_list.pk)

    def unfinished(self) -> "AddressListQuerySet":
        return self.filter(state__in=UNFINISHED)

    def workable(self) -> "AddressListQuerySet":
        return self.filter(state__in=WORKABLE)


class DeletedListQuerySet(LeasedQuerySet["AddressList"]):
    def due(self) -> "DeletedListQuerySet":
        """Return the lists to erase."""
        return self.order_by("deleted_at", "pk")


_ListManager = models.Manager.from_queryset(AddressListQuerySet)
_DeletedListManager = models.Manager.from_queryset(DeletedListQuerySet)


class ListManager(_ListManager["AddressList"]):
    def get_queryset(self) -> AddressListQuerySet:
        return AddressListQuerySet(self.model, using=self._db).filter(deleted_at=None)


class DeletedListManager(_DeletedListManager["AddressList"]):
    def get_queryset(self) -> DeletedListQuerySet:
        return DeletedListQuerySet(self.model, using=self._db).exclude(deleted_at=None)


class AddressList(LeasedRow):
    LEASE = LEASE

    public_id = models.CharField(max_length=30, unique=True, editable=False, default=list_id)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="lists")
    # Null if it was created in the dashboard.
    key = models.ForeignKey(ApiKey, null=True, on_delete=models.SET_NULL, related_name="+")
    # Email address at that time, not a foreign key: users can be erased.
    created_by = models.CharField(max_length=254)
    name = models.CharField(max_length=100)
    metadata = models.JSONField(default=dict)

    state = models.CharField(max_length=12, default=State.UPLOADING)
    # A stable code and a sentence, if the list failed or was stopped by us.
    error_code = models.CharField(max_length=40, blank=True)
    error_message = models.CharField(max_length=300, blank=True)

    # What the customer says about the file, and chose.
    content_type = models.CharField(max_length=100, blank=True)
    delimiter = models.CharField(max_length=1, blank=True)
    has_header = models.BooleanField(null=True)
    # The index of the column with the addresses. Null until the customer or we choose one.
    column = models.PositiveIntegerField(null=True)
    dedupe = models.CharField(max_length=7, choices=Dedupe, default=Dedupe.ADDRESS)
    rechecks_unknown = models.BooleanField(default=True)
    starts_when_ready = models.BooleanField(default=False)
    # The customer wants it to start even if most cells are no addresses.
    is_confirmed = models.BooleanField(default=False, db_default=False)
    max_credits = models.PositiveBigIntegerField(null=True)

    # Found while parsing. `preview` is encrypted: it has the first rows.
    bytes = models.PositiveBigIntegerField(default=0)
    preview = models.BinaryField(blank=True, default=b"")
    rows = models.PositiveIntegerField(default=0)
    empty = models.PositiveIntegerField(default=0)
    not_address = models.PositiveIntegerField(default=0)
    bad_syntax = models.PositiveIntegerField(default=0)
    duplicates = models.PositiveIntegerField(default=0)
    # Distinct addresses, each of which costs at most one credit.
    addresses = models.PositiveIntegerField(default=0)

    hold = models.ForeignKey(Hold, null=True, on_delete=models.PROTECT, related_name="+")
    # Addresses with a final or an unknown result so far, and the verdicts among them.
    checked = models.PositiveIntegerField(default=0)
    deliverable = models.PositiveIntegerField(default=0)
    risky = models.PositiveIntegerField(default=0)
    undeliverable = models.PositiveIntegerField(default=0)
    unknown = models.PositiveIntegerField(default=0)
    # How often unknown results were checked again, and when they are next.
    rechecks = models.PositiveSmallIntegerField(default=0)
    recheck_at = models.DateTimeField(null=True)
    # When a process last took a chunk: the list that waited longest is next.
    served_at = models.DateTimeField(null=True)

    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    paused_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    # Hidden from then on, until all of it is erased.
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
                fields=["deleted_at"],
                condition=Q(deleted_at__isnull=False),
                name="list_deleted",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=list(State)), name="list_state_is_known"),
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
    def was_parsed(self) -> bool:
        """Return whether all rows are stored in chunks. Parts of the file may be left over."""
        return bool(self.preview)


class ListPart(models.Model):
    """A part of an uploaded file, deleted once the file is parsed."""

    list = models.ForeignKey(AddressList, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    size = models.PositiveIntegerField()
    # Encrypted.
    content = models.BinaryField()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["list", "number"], name="one_part_of_a_number")
        ]

    def __str__(self) -> str:
        return f"Part {self.number} of {self.list_id}"


class ListChunkQuerySet(LeasedQuerySet["ListChunk"]):
    def due(self) -> "ListChunkQuerySet":
        return self.filter(is_done=False).order_by("number")


class ListChunk(LeasedRow):
    """Up to a thousand consecutive rows of a list, and their results."""

    LEASE = LEASE

    list = models.ForeignKey(AddressList, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    # Encrypted: all cells, and which rows are addresses to check or repeat an earlier row.
    rows = models.BinaryField()
    # Encrypted. Empty until the chunk was checked.
    results = models.BinaryField(blank=True, default=b"")
    # Results that can still become known.
    unknown = models.PositiveIntegerField(default=0)
    is_done = models.BooleanField(default=False)

    objects = ListChunkQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["list", "number"], name="one_chunk_of_a_number")
        ]
        indexes = [
            models.Index(
                fields=["list", "number"], condition=Q(is_done=False), name="chunk_waiting"
            )
        ]

    def __str__(self) -> str:
        return f"Chunk {self.number} of {self.list_id}"


class ListAddress(models.Model):
    """Where an address occurs first in a list. Finds duplicates, and addresses to erase."""

    list = models.ForeignKey(
        AddressList,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    # The keyed hash of the address, or of its mailbox, in the 16 bytes of a UUID.
    digest = models.UUIDField()
    row = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["list", "digest"], name="one_row_of_an_address")
        ]

    def __str__(self) -> str:
        return f"Row {self.row} of {self.list_id}"
