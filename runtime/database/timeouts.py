"""How long a web request waits for one answer of PostgreSQL. Nothing else is imported here: the web
worker sets it before Django is there."""

from contextvars import ContextVar

# A caller of the API is told within two seconds that it has to come back; a page may take longer.
API_SECONDS, PAGE_SECONDS = 1.5, 15.0
# How long a page waits for a connection, or for a sign of life of one, while the database says
# nothing at all. The visitor then gets a 503 within two seconds.
GREETING_SECONDS = 1.5
# How often a worker asks again for a database that was silent. Other requests fail until then.
RETRY_SECONDS = 0.5
# A migration that waits for a table makes everybody wait behind it: no longer than callers do.
MIGRATION_SECONDS = 1.0

# Whether a page is being made, which leaves some connections of the pool to the API.
serves_page: ContextVar[bool] = ContextVar("serves_page", default=False)
# None: as long as it takes, for commands and the background worker.
database_seconds: ContextVar[float | None] = ContextVar("database_seconds", default=None)
