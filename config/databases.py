"""DATABASE_URL in Django's terms: SQLite in the data folder, or PostgreSQL."""

from pathlib import Path
from typing import Any

import dj_database_url

from config.environment import Environment

SQLITE = "config.sqlite"
POSTGRESQL = "django.db.backends.postgresql"


def database_settings(env: Environment, default_file: Path, *, pool_size: int) -> dict[str, Any]:
    url = env.text("DATABASE_URL", f"sqlite:///{default_file}")
    if url.startswith("sqlite://"):
        return _sqlite(url)
    if url.startswith(("postgres://", "postgresql://")):
        return _postgresql(url, pool_size)
    env.problem("DATABASE_URL", "must start with postgres:// or sqlite://.")
    return _sqlite(f"sqlite:///{default_file}")


def is_postgresql(database: dict[str, Any]) -> bool:
    return bool(database["ENGINE"] == POSTGRESQL)


def _sqlite(url: str) -> dict[str, Any]:
    return {
        **dj_database_url.parse(url),
        "ENGINE": SQLITE,
        "OPTIONS": {
            # Taking the write lock at BEGIN avoids the upgrade of a read lock, which cannot wait.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            # FULL: a charge that was answered survives a power cut.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        },
    }


def _postgresql(url: str, pool_size: int) -> dict[str, Any]:
    database: dict[str, Any] = {**dj_database_url.parse(url), "ENGINE": POSTGRESQL}
    options = database.setdefault("OPTIONS", {})
    options.setdefault("connect_timeout", 2)
    if pool_size:
        options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 2}
    else:
        database["CONN_MAX_AGE"] = 60
        database["CONN_HEALTH_CHECKS"] = True
    return database
