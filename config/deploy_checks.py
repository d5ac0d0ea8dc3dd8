"""What `manage.py check --deploy` finds beyond Django's checks and the settings' own."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning  # noqa: A004 - Django's name
from django.db import DatabaseError, connection

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
    """Compare what this machine may open with what PostgreSQL allows."""
    if settings.PGBOUNCER or connection.vendor != "postgresql":
        return []
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT current_setting('max_connections')::int "
                "- current_setting('superuser_reserved_connections')::int"
            )
            (most,) = cursor.fetchone()
    except DatabaseError:
        return []
    web = sum(settings.WORKERS_BY_POOL.values()) * settings.WEB_THREADS
    processes = 1 + settings.LIST_PROCESSES + settings.WEBHOOK_PROCESSES + settings.PROBE_PROCESSES
    needed = web + processes * CONNECTIONS_OF_A_PROCESS
    if needed <= most:
        return []
    return [
        Warning(
            f"This machine may open {needed:,} connections, but PostgreSQL allows {most:,}.",
            hint="Lower WEB_THREADS, raise max_connections, or use PgBouncer: "
            "docs/operations/growing.md.",
            id="config.W002",
        )
    ]
