from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runtime.database.empty_database import empty_database_message, is_empty


class DatabaseCommand(BaseCommand):
    """A command that needs the database's tables, and reports in one line if there are none."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        if is_empty():
            raise CommandError(empty_database_message())
        return super().execute(*args, **options)
