"""DATABASES, from DATABASE_URL: PostgreSQL, or SQLite in the data folder."""

from pathlib import Path
from typing import Any, TypeAlias

import dj_database_url

from config.settings.environment import Environment

# The values of Django's settings have all types.
Settings: TypeAlias = dict[str, Any]

SQLITE = "runtime.database.sqlite"
POSTGRESQL = "runtime.database.postgresql"
FORMAT = "must be of the form postgres://user:password@host:5432/name or sqlite:////folder/file."
PGBOUNCER_FORMAT = "must be of the form postgres://user:password@host:6432/name."

# How long writers wait for SQLite's lock. API requests get a 503 within two seconds; commands and
# the background worker can wait longer.
WEB_LOCK_TIMEOUT, OTHER_LOCK_TIMEOUT = 1.8, 20.0


def database_settings(env: Environment, default_file: Path, *, pool_size: int) -> Settings:
    """Return the settings. `pool_size` is 0 for processes that need a single connection."""
    url = env.text("DATABASE_URL")
    lock_timeout = WEB_LOCK_TIMEOUT if pool_size else OTHER_LOCK_TIMEOUT
    if not url:
        return _sqlite(str(default_file), lock_timeout, max_idle=pool_size)
    parsed = _parse(url)
    if parsed.get("NAME", ":memory:") != ":memory:" and url.startswith("sqlite://"):
        return _sqlite(parsed["NAME"], lock_timeout, max_idle=pool_size)
    if _names_postgresql(url, parsed):
        parsed["PASSWORD"] = env.url_password("DATABASE_PASSWORD", parsed["PASSWORD"])
        return _postgresql(parsed, pool_size)
    env.report("DATABASE_URL", FORMAT)
    return _sqlite(str(default_file), lock_timeout, max_idle=pool_size)


def pgbouncer_settings(env: Environment, database: Settings, *, pool_size: int) -> Settings | None:
    """Return the settings for connections through PgBouncer in transaction mode, if it is set."""
    url = env.text("PGBOUNCER_URL")
    if not url:
        return None
    parsed = _parse(url)
    if not _names_postgresql(url, parsed):
        env.report("PGBOUNCER_URL", PGBOUNCER_FORMAT)
    elif not is_postgresql(database):
        env.report("PGBOUNCER_URL", "needs DATABASE_URL, the same database without PgBouncer.")
    else:
        # PgBouncer usually has the same user.
        parsed["PASSWORD"] = parsed["PASSWORD"] or database["PASSWORD"]
        return _through_pgbouncer(_postgresql(parsed, pool_size))
    return None


def _parse(url: str) -> Settings:
    """Return the parsed URL, or nothing if it's invalid."""
    try:
        return {**dj_database_url.parse(url)}
    # The error doesn't repeat the URL, as that may contain a password.
    except (ValueError, KeyError):
        return {}


def _names_postgresql(url: str, parsed: Settings) -> bool:
    return bool(parsed.get("NAME")) and url.startswith(("postgres://", "postgresql://"))


def is_postgresql(database: Settings) -> bool:
    return bool(database["ENGINE"] == POSTGRESQL)


def _sqlite(file: str, lock_timeout: float, *, max_idle: int) -> Settings:
    return {
        "ENGINE": SQLITE,
        "NAME": file,
        "LOCK_TIMEOUT": lock_timeout,
        # Connections that stay open between requests: runtime/database/sqlite/base.py.
        "MAX_IDLE_CONNECTIONS": max_idle,
        "OPTIONS": {
            # Take the write lock at BEGIN, as upgrading a read lock can fail without waiting.
            "transaction_mode": "IMMEDIATE",
            # runtime/database/sqlite/base.py waits instead, without blocking the event loop.
            "timeout": 0,
            # FULL: committed charges survive a power failure.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        },
    }


def _postgresql(parsed: Settings, pool_size: int) -> Settings:
    database = {**parsed, "ENGINE": POSTGRESQL}
    options = database.setdefault("OPTIONS", {})
    options.setdefault("connect_timeout", 2)
    if "," in (parsed["HOST"] or str(options.get("host", ""))):
        # Of a primary and its standbys, connect to the one that accepts writes.
        options.setdefault("target_session_attrs", "read-write")
    # Only prepare statements explicitly: runtime/database/postgresql/base.py.
    options.setdefault("prepare_threshold", 1_000_000_000)
    # Prepared statements look up a few rows by key, for which a generic plan is best.
    generic = "-c plan_cache_mode=force_generic_plan"
    # End a query that waits for a lock when its client disconnects, so that it doesn't charge.
    check_client = "-c client_connection_check_interval=500"
    options["options"] = f"{options.get('options', '')} {generic} {check_client}".strip()
    if pool_size:
        # Not at the top, so that instances on SQLite don't load the driver.
        from runtime.database.postgresql.base import TimeoutConnection

        options["pool"] = {
            "connection_class": TimeoutConnection,
            "min_size": 1,
            "max_size": pool_size,
            # By default, the pool's delay between attempts grows to minutes.
            "reconnect_timeout": 2,
        }
    else:
        database["CONN_MAX_AGE"] = 60
    # Replace dead connections before a request uses them. For pooled connections,
    # runtime/database/postgresql/base.py does this.
    database["CONN_HEALTH_CHECKS"] = not pool_size
    return database


def _through_pgbouncer(database: Settings) -> Settings:
    """Use nothing that outlives a transaction: the next one may run in another session."""
    options = database["OPTIONS"]
    # PgBouncer refuses `options`; its connect_query sets them (docs/operations/growing.md).
    del options["options"]
    # None prepares no statement, even if a cursor asks for it.
    options["prepare_threshold"] = None
    # QuerySet.iterator() then fetches all rows.
    database["DISABLE_SERVER_SIDE_CURSORS"] = True
    return database
