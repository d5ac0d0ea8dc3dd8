from django.db import connection

from runtime.database import sqlite


def is_available() -> bool:
    if connection.vendor == "sqlite":
        return sqlite.is_available(connection)
    # Defined in runtime/database/postgresql.
    is_available: bool = connection.is_available()  # type: ignore[attr-defined]
    return is_available
