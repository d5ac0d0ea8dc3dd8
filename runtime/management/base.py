from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runtime.database.empty_database import is_empty, what_to_do


class DatabaseCommand(BaseCommand):
    """A command that works with the product's tables, and says so where there are none."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        if is_empty():
            raise CommandError(what_to_do())
        return super().execute(*args, **options)
