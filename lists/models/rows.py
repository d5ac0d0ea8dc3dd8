from django.db import models
from django.db.models import Q

from lists.models.lists import LEASE, AddressList
from runtime.database.leased_rows import LeasedQuerySet, LeasedRow


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
        return self.filter(is_done=False).order_by("first_row")

    def with_row(self, row: int) -> "ListChunk":
        chunk = self.filter(first_row__lte=row).order_by("-first_row")[:1].get()
        if row >= chunk.first_row + chunk.row_count:
            raise self.model.DoesNotExist
        return chunk


class ListChunk(LeasedRow):
    """Consecutive rows of a list, and their results."""

    LEASE = LEASE

    list = models.ForeignKey(AddressList, on_delete=models.CASCADE, related_name="chunks")
    # Counted from 0 in the whole list.
    first_row = models.PositiveIntegerField()
    row_count = models.PositiveSmallIntegerField()
    # Encrypted, as `packing.Rows`.
    rows = models.BinaryField()
    # One per row with an address, encrypted. Empty until the chunk is checked.
    results = models.BinaryField(blank=True, default=b"")
    # Results that can still become known.
    unknown = models.PositiveIntegerField(default=0)
    # Empty results, for which a mail server has to answer.
    pending = models.PositiveIntegerField(default=0, db_default=0)
    is_done = models.BooleanField(default=False)

    objects = ListChunkQuerySet.as_manager()

    class Meta:
        ordering = ["first_row"]
        constraints = [
            models.UniqueConstraint(fields=["list", "first_row"], name="one_chunk_of_a_row")
        ]
        indexes = [
            models.Index(
                fields=["list", "first_row"], condition=Q(is_done=False), name="chunk_waiting"
            )
        ]

    def __str__(self) -> str:
        return f"Chunk from row {self.first_row} of {self.list_id}"


class ListAddress(models.Model):
    """Stores where an address occurs first."""

    list = models.ForeignKey(
        AddressList,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    # The keyed hash of the address or mailbox.
    digest = models.UUIDField()
    row = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["list", "digest"], name="one_row_of_an_address")
        ]

    def __str__(self) -> str:
        return f"Row {self.row} of {self.list_id}"
