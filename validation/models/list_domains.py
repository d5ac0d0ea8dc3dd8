"""The distinct domains of a list, which are looked up in blocks."""

from django.db import models

from runtime.database.leased_rows import LeasedQuerySet, LeasedRow
from validation.models.lists import LEASE, AddressList

BLOCK_DOMAINS = 500


class DomainBlockQuerySet(LeasedQuerySet["DomainBlock"]):
    def due(self) -> "DomainBlockQuerySet":
        return self.filter(is_done=False).order_by("number")


class DomainBlock(LeasedRow):
    """Some of a list's domains, looked up by one process. Chunks wait until all are done."""

    LEASE = LEASE

    list = models.ForeignKey(AddressList, on_delete=models.CASCADE, related_name="blocks")
    number = models.PositiveIntegerField()
    is_done = models.BooleanField(default=False)

    objects = DomainBlockQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["list", "number"], name="one_block_of_a_number")
        ]

    def __str__(self) -> str:
        return f"Domain block {self.number} of {self.list_id}"


class ListDomain(models.Model):
    """A distinct domain of a list, and what the DNS says about it."""

    list = models.ForeignKey(
        AddressList, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    domain = models.CharField(max_length=253)
    block = models.PositiveIntegerField()
    # JSON of the engine's MailRoute. Empty until the domain was looked up.
    route = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["list", "domain"], name="one_row_of_a_domain")
        ]
        indexes = [models.Index(fields=["list", "block"], name="list_domain_by_block")]

    def __str__(self) -> str:
        return f"{self.domain} in {self.list_id}"
