"""Time limits for PostgreSQL, in seconds.

The web worker sets them for each request, before Django is loaded: keep this module free of it.
"""

from contextvars import ContextVar

# API clients get a 503 within two seconds; a page may take longer.
API_QUERY_TIMEOUT, PAGE_QUERY_TIMEOUT = 1.5, 15.0
# How long a page waits for a connection, or for the reply to a liveness check, while the database
# doesn't respond at all. The visitor then gets a 503 within two seconds.
LIVENESS_TIMEOUT = 1.5
# How often a worker retries a database that didn't respond. Other requests fail until then.
RETRY_SECONDS = 0.5
# Queries queue behind a migration that waits for its table lock, so it must give up earlier than
# callers do.
MIGRATION_LOCK_TIMEOUT = 1.0

# Whether the request is for a page. Pages leave some connections of the pool to the API.
is_page_request: ContextVar[bool] = ContextVar("is_page_request", default=False)
# None, for commands and the background worker: no limit.
query_timeout: ContextVar[float | None] = ContextVar("query_timeout", default=None)
