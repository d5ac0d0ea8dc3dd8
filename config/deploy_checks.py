"""What `manage.py check --deploy` finds beyond Django's checks and the settings' own."""

import sys
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning  # noqa: A004 - Django's name
from django.db import DatabaseError, connections

# Of deploy/production.env.example.
EXAMPLES = {
    "SELLER_NAME": "Example Validation Ltd",
    "SELLER_ADDRESS": "1 Example Street, Exampleton",
    "SELLER_TAX_ID": "EX123456789",
}
RESERVED_ENDINGS = (".example", ".example.com", ".example.net", ".example.org")
# A process for lists, webhooks, mailbox checks or background work needs at most so many.
CONNECTIONS_OF_A_PROCESS = 8


def check_examples(**_: Any) -> list[CheckMessage]:
    copied = [name for name, value in EXAMPLES.items() if getattr(settings, name) == value]
    if f".{settings.BASE_HOST}".endswith(RESERVED_ENDINGS):
        copied.append("BASE_URL")
    return [
        Warning(f"{name} is still the example.", hint="Set your own.", id="config.W001")
        for name in copied
    ]


def check_connections(**_: Any) -> list[CheckMessage]:
    """Compare what this machine may open with what each PostgreSQL allows."""
    processes = 1 + settings.LIST_PROCESSES + settings.WEBHOOK_PROCESSES + settings.PROBE_PROCESSES
    web = settings.WEB_THREADS * sum(settings.WORKERS_BY_POOL.values())
    needed = {
        "default": 0 if settings.PGBOUNCER else web + processes * CONNECTIONS_OF_A_PROCESS,
        "replica": settings.WEB_THREADS * settings.WORKERS_BY_POOL["pages"],
    }
    return [
        Warning(
            f"This machine may open {needed[alias]:,} connections, but PostgreSQL allows {most:,}.",
            hint="Lower WEB_THREADS, raise max_connections, or use PgBouncer: "
            "docs/operations/pgbouncer.md.",
            id="config.W002",
        )
        for alias in connections
        if needed[alias] > (most := _max_connections(alias))
    ]


def _max_connections(alias: str) -> int:
    if connections[alias].vendor == "postgresql":
        with suppress(DatabaseError), connections[alias].cursor() as cursor:
            cursor.execute(
                "SELECT current_setting('max_connections')::int "
                "- current_setting('superuser_reserved_connections')::int"
            )
            return int(cursor.fetchone()[0])
    return sys.maxsize
