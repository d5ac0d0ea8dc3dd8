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

# How long writers wait for SQLite's lock. API requests get a 503 within two seconds; commands and
# the background worker can wait longer.
WEB_LOCK_TIMEOUT, OTHER_LOCK_TIMEOUT = 1.8, 20.0


def database_settings(env: Environment, default_file: Path, *, pool_size: int) -> Settings:
    """Return the settings. `pool_size` is 0 for processes that need a single connection."""
    url = env.text("DATABASE_URL")
    lock_timeout = WEB_LOCK_TIMEOUT if pool_size else OTHER_LOCK_TIMEOUT
    if not url:
        return _sqlite(str(default_file), lock_timeout, max_idle=pool_size)
    try:
        parsed: Settings = {**dj_database_url.parse(url)}
    # The error doesn't repeat the URL, as that may contain a password.
    except (ValueError, KeyError):
        parsed = {}
    if parsed.get("NAME", ":memory:") != ":memory:" and url.startswith("sqlite://"):
        return _sqlite(parsed["NAME"], lock_timeout, max_idle=pool_size)
    if parsed.get("NAME") and url.startswith(("postgres://", "postgresql://")):
        parsed["PASSWORD"] = env.url_password("DATABASE_PASSWORD", parsed["PASSWORD"])
        return _postgresql(parsed, pool_size)
    env.report("DATABASE_URL", FORMAT)
    return _sqlite(str(default_file), lock_timeout, max_idle=pool_size)


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
