"""Delete rows in small batches: locks are short, and a killed job keeps its progress."""

from typing import Any

from django.db.models import Model, QuerySet

BATCH_SIZE = 2_000


def delete_in_batches(rows: QuerySet[Any], size: int | None = None) -> int:
    """Return the number of deleted rows. Call this outside a transaction."""
    model: type[Model] = rows.model
    total = 0
    while n := model._default_manager.filter(
        pk__in=rows.values("pk")[: size or BATCH_SIZE]
    ).delete()[0]:
        total += n
    return total
