"""Many rows are deleted a few at a time: no lock is held long, and a job that is killed half-way
loses nothing of what it did."""

from typing import Any

from django.db.models import Model, QuerySet

BATCH = 2_000


def delete_in_batches(rows: QuerySet[Any]) -> int:
    """How many went. Call it outside a transaction."""
    model: type[Model] = rows.model
    gone = 0
    while deleted := model._default_manager.filter(pk__in=rows.values("pk")[:BATCH]).delete()[0]:
        gone += deleted
    return gone
