"""DATABASE_URL in Django's terms: SQLite in the data folder, or PostgreSQL."""

from pathlib import Path
from typing import Any

import dj_database_url

from config.settings.environment import Environment

SQLITE = "runtime.database.sqlite"
POSTGRESQL = "runtime.database.postgresql"
FORM = "must be of the form postgres://user:password@host:5432/name or sqlite:////folder/file."


# How long a writer waits for SQLite. A caller of the API is told within two seconds that it has to
# come back; a command or the background worker has time.
WEB_PATIENCE, OTHER_PATIENCE = 1.8, 20.0


def database_settings(env: Environment, default_file: Path, *, pool_size: int) -> dict[str, Any]:
    """A web worker has a pool; what has none is a process with one line of work."""
    url = env.text("DATABASE_URL")
    patience = WEB_PATIENCE if pool_size else OTHER_PATIENCE
    if not url:
        return _sqlite(str(default_file), patience, kept=pool_size)
    try:
        parsed: dict[str, Any] = {**dj_database_url.parse(url)}
    # The URL is not repeated: it may hold a password.
    except (ValueError, KeyError):
        parsed = {}
    if parsed.get("NAME", ":memory:") != ":memory:" and url.startswith("sqlite://"):
        return _sqlite(parsed["NAME"], patience, kept=pool_size)
    if parsed.get("NAME") and url.startswith(("postgres://", "postgresql://")):
        return _postgresql(parsed, pool_size)
    env.problem("DATABASE_URL", FORM)
    return _sqlite(str(default_file), patience, kept=pool_size)


def is_postgresql(database: dict[str, Any]) -> bool:
    return bool(database["ENGINE"] == POSTGRESQL)


def _sqlite(file: str, patience: float, *, kept: int) -> dict[str, Any]:
    return {
        "ENGINE": SQLITE,
        "NAME": file,
        "PATIENCE": patience,
        # How many wait open for the next request: runtime/database/sqlite/base.py.
        "KEPT_CONNECTIONS": kept,
        "OPTIONS": {
            # Taking the write lock at BEGIN avoids the upgrade of a read lock, which cannot wait.
            "transaction_mode": "IMMEDIATE",
            # It waits by asking again, which stops nobody else: runtime/database/sqlite/base.py.
            "timeout": 0,
            # FULL: a charge that was answered survives a power cut.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        },
    }


def _postgresql(parsed: dict[str, Any], pool_size: int) -> dict[str, Any]:
    database = {**parsed, "ENGINE": POSTGRESQL}
    options = database.setdefault("OPTIONS", {})
    options.setdefault("connect_timeout", 2)
    # Prepare only the statements that ask for it: runtime/database/postgresql/base.py.
    options.setdefault("prepare_threshold", 1_000_000_000)
    # What is prepared looks up a few rows by their keys, whichever these are: one plan serves all.
    generic = "-c plan_cache_mode=force_generic_plan"
    # What waits for a lock ends when nobody waits for its answer any more: or it would charge.
    watchful = "-c client_connection_check_interval=500"
    options["options"] = f"{options.get('options', '')} {generic} {watchful}".strip()
    if pool_size:
        # Not at the top: a copy on SQLite need not load the driver.
        from runtime.database.postgresql.base import PatientConnection

        options["pool"] = {
            "connection_class": PatientConnection,
            "min_size": 1,
            "max_size": pool_size,
            # It would wait longer after each failure, up to minutes after PostgreSQL is back.
            "reconnect_timeout": 2,
        }
    else:
        database["CONN_MAX_AGE"] = 60
    # A connection that died while it was idle is replaced instead of failing somebody's request.
    # Those of the pool are looked after in runtime/database/postgresql/base.py.
    database["CONN_HEALTH_CHECKS"] = not pool_size
    return database
