"""The web worker imports this before Django."""

from contextvars import ContextVar

# API clients get a 503 within two seconds; a page may take longer.
API_QUERY_TIMEOUT, PAGE_QUERY_TIMEOUT = 1.5, 15.0
LIVENESS_TIMEOUT = 1.5
# How often a worker tries such a database again.
RETRY_SECONDS = 0.5
# Calls queue behind a waiting migration.
MIGRATION_LOCK_TIMEOUT = 1.0

# None for commands and the background worker.
query_timeout: ContextVar[float | None] = ContextVar("query_timeout", default=None)
