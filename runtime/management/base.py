from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runtime.database.applied_migrations import empty_database_message, is_empty


class ProductCommand(BaseCommand):
    """Skip Django's checks, which import every view."""

    requires_system_checks: list[str] = []


class DatabaseCommand(ProductCommand):
    def execute(self, *args: Any, **options: Any) -> str | None:
        if is_empty():
            raise CommandError(empty_database_message())
        return super().execute(*args, **options)
