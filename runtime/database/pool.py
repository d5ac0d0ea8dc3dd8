"""Return pooled database connections early."""

from django.db import connection


def release_connection() -> None:
    """Return the request's connection to the pool before a long wait.

    While this request waits for DNS or a slow client, other requests can use the connection.
    """
    if connection.settings_dict["OPTIONS"].get("pool") and not connection.in_atomic_block:
        connection.close()
