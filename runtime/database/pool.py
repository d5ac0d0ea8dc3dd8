"""The database connections that the requests of a web worker share."""

from django.db import connection


def release_connection() -> None:
    """By whoever waits for something else, the DNS or a slow reader: others use it meanwhile."""
    if connection.settings_dict["OPTIONS"].get("pool") and not connection.in_atomic_block:
        connection.close()
