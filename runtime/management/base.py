from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runtime.database.empty_database import empty_database_message, is_empty


class ProductCommand(BaseCommand):
    """A command that starts without Django's system checks.

    They import the URL table with every view, which doubles the time to start. `manage.py check`
    runs them, as do `make lint` and the deployment (docs/operations/).
    """

    requires_system_checks: list[str] = []


class DatabaseCommand(ProductCommand):
    """A command that needs the database's tables, and reports in one line if there are none."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        if is_empty():
            raise CommandError(empty_database_message())
        return super().execute(*args, **options)
