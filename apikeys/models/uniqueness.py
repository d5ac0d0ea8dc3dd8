from typing import Any

from django.db.models import BaseConstraint, Q, UniqueConstraint


def unique_by_key(name: str, *fields: str, **only: Any) -> list[BaseConstraint]:
    """A unique index takes NULLs for different: the rows of the playground, which have no key, get
    one of their own. `only`: of which rows at all."""
    without_key = [field for field in fields if field != "key"]
    return [
        UniqueConstraint(
            fields=fields, condition=Q(key__isnull=False, **only), name=f"{name}_of_key"
        ),
        UniqueConstraint(
            fields=without_key, condition=Q(key__isnull=True, **only), name=f"{name}_of_playground"
        ),
    ]
