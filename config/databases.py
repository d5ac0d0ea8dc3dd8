"""DATABASE_URL in Django's terms: SQLite in the data folder, or PostgreSQL."""

from pathlib import Path
from typing import Any

import dj_database_url

from config.environment import Environment

SQLITE = "config.sqlite"
POSTGRESQL = "django.db.backends.postgresql"
FORM = "must be of the form postgres://user:password@host:5432/name or sqlite:////folder/file."


def database_settings(env: Environment, default_file: Path, *, pool_size: int) -> dict[str, Any]:
    url = env.text("DATABASE_URL")
    if not url:
        return _sqlite(str(default_file))
    try:
        parsed: dict[str, Any] = {**dj_database_url.parse(url)}
    # The URL is not repeated: it may hold a password.
    except (ValueError, KeyError):
        parsed = {}
    if parsed.get("NAME", ":memory:") != ":memory:" and url.startswith("sqlite://"):
        return _sqlite(parsed["NAME"])
    if parsed.get("NAME") and url.startswith(("postgres://", "postgresql://")):
        return _postgresql(parsed, pool_size)
    env.problem("DATABASE_URL", FORM)
    return _sqlite(str(default_file))


def is_postgresql(database: dict[str, Any]) -> bool:
    return bool(database["ENGINE"] == POSTGRESQL)


def _sqlite(file: str) -> dict[str, Any]:
    return {
        "ENGINE": SQLITE,
        "NAME": file,
        "OPTIONS": {
            # Taking the write lock at BEGIN avoids the upgrade of a read lock, which cannot wait.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            # FULL: a charge that was answered survives a power cut.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        },
    }


def _postgresql(parsed: dict[str, Any], pool_size: int) -> dict[str, Any]:
    database = {**parsed, "ENGINE": POSTGRESQL}
    options = database.setdefault("OPTIONS", {})
    options.setdefault("connect_timeout", 2)
    if pool_size:
        options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 1.5}
    else:
        database["CONN_MAX_AGE"] = 60
        database["CONN_HEALTH_CHECKS"] = True
    return database
