from django.db import models
from django.db.models import OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from lists.models.lists import LEASE, AddressList
from runtime.database.leased_rows import LeasedQuerySet, LeasedRow

BLOCK_DOMAINS = 500


class DomainBlockQuerySet(LeasedQuerySet["DomainBlock"]):
    def due(self) -> "DomainBlockQuerySet":
        return self.filter(is_done=False).order_by("number")


class DomainBlock(LeasedRow):
    """A block of domains that one process looks up. Chunks wait for all blocks."""

    LEASE = LEASE

    list = models.ForeignKey(AddressList, on_delete=models.CASCADE, related_name="blocks")
    number = models.PositiveIntegerField()
    looked_up = models.PositiveIntegerField(default=0, db_default=0)
    is_done = models.BooleanField(default=False)

    objects = DomainBlockQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["list", "number"], name="one_block_of_a_number")
        ]

    def __str__(self) -> str:
        return f"Domain block {self.number} of {self.list_id}"


def with_progress(lists: models.QuerySet[AddressList]) -> models.QuerySet[AddressList]:
    """Load the progress of several lists in their query."""
    blocks = DomainBlock.objects.filter(list=OuterRef("pk")).order_by().values("list")
    looked_up = Subquery(blocks.annotate(sum=Sum("looked_up")).values("sum"))
    # This sets the cached property.
    return lists.annotate(domains_looked_up=Coalesce(looked_up, 0))  # type: ignore[no-redef]


class ListDomain(models.Model):
    list = models.ForeignKey(
        AddressList, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    domain = models.CharField(max_length=253)
    block = models.PositiveIntegerField()
    # JSON of the engine's MailRoute. Empty before the lookup.
    route = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["list", "domain"], name="one_row_of_a_domain")
        ]
        indexes = [models.Index(fields=["list", "block"], name="list_domain_by_block")]

    def __str__(self) -> str:
        return f"{self.domain} in {self.list_id}"
