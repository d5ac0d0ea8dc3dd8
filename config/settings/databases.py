import sys
from pathlib import Path
from typing import Any, TypeAlias

import dj_database_url

from config.settings.environment import Environment

Settings: TypeAlias = dict[str, Any]

SQLITE = "runtime.database.sqlite"
POSTGRESQL = "runtime.database.postgresql"
FORMAT = "must be of the form postgres://user:password@host:5432/name or sqlite:////folder/file."

CONNECTION_MAX_AGE = 60


def database_settings(env: Environment, default_file: Path, *, pool_size: int) -> Settings:
    """`pool_size` is 0 for a single connection."""
    url = env.text("DATABASE_URL")
    if not url:
        return _sqlite(str(default_file))
    parsed = _parse(url)
    if parsed.get("NAME", ":memory:") != ":memory:" and url.startswith("sqlite://"):
        return _sqlite(parsed["NAME"])
    if _names_postgresql(url, parsed):
        parsed["PASSWORD"] = env.url_password("DATABASE_PASSWORD", parsed["PASSWORD"])
        return _postgresql(parsed, pool_size)
    env.report("DATABASE_URL", FORMAT)
    return _sqlite(str(default_file))


def pgbouncer_settings(env: Environment, database: Settings, *, pool_size: int) -> Settings | None:
    """Use nothing that outlives a transaction."""
    parsed = _same_database(env, "PGBOUNCER_URL", database)
    if not parsed:
        return None
    pgbouncer = _postgresql(parsed, pool_size)
    # PgBouncer refuses `options`; its connect_query sets them.
    del pgbouncer["OPTIONS"]["options"]
    pgbouncer["OPTIONS"]["prepare_threshold"] = None
    # QuerySet.iterator() then fetches all rows.
    pgbouncer["DISABLE_SERVER_SIDE_CURSORS"] = True
    return pgbouncer


def replica_settings(env: Environment, database: Settings, *, pool_size: int) -> Settings | None:
    parsed = _same_database(env, "REPLICA_URL", database)
    if not parsed:
        return None
    replica = _postgresql(parsed, pool_size, session="standby")
    # Also after it was promoted.
    replica["OPTIONS"]["options"] += " -c default_transaction_read_only=on"
    if pool_size:
        from runtime.database.postgresql.base import ReplicaConnection

        # It may be down when the pool opens, and another host after a promotion.
        lifetime = {"min_size": 0, "max_lifetime": CONNECTION_MAX_AGE}
        replica["OPTIONS"]["pool"] |= {"connection_class": ReplicaConnection, **lifetime}
    return replica


def _same_database(env: Environment, name: str, database: Settings) -> Settings | None:
    """Parse the URL of another server for `database`, whose password is the default."""
    url = env.text(name)
    parsed = _parse(url) if url else {}
    if url and not _names_postgresql(url, parsed):
        env.report(name, "must be of the form postgres://user:password@host:port/name.")
    elif url and not is_postgresql(database):
        env.report(name, "needs DATABASE_URL, the same database on its primary.")
    elif url:
        return {**parsed, "PASSWORD": parsed["PASSWORD"] or database["PASSWORD"]}
    return None


def _parse(url: str) -> Settings:
    try:
        return {**dj_database_url.parse(url)}
    # The error may contain a password.
    except (ValueError, KeyError):
        return {}


def _names_postgresql(url: str, parsed: Settings) -> bool:
    return bool(parsed.get("NAME")) and url.startswith(("postgres://", "postgresql://"))


def is_postgresql(database: Settings) -> bool:
    return bool(database["ENGINE"] == POSTGRESQL)


def _sqlite(file: str) -> Settings:
    return {
        "ENGINE": SQLITE,
        "NAME": file,
        # A web worker's greenlet keeps it as long as its client's connection.
        "CONN_MAX_AGE": CONNECTION_MAX_AGE,
        "OPTIONS": {
            # Upgrading a read lock could fail without waiting.
            "transaction_mode": "IMMEDIATE",
            # Only for opening the file: runtime/database/sqlite/base.py.
            "timeout": 1,
            # FULL: committed charges survive a power failure. ON: some builds of SQLite leave
            # deleted data in the file, and so does FAST.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
            "PRAGMA secure_delete=ON; PRAGMA busy_timeout=0;",
        },
    }


def _postgresql(parsed: Settings, pool_size: int, session: str = "read-write") -> Settings:
    database = {**parsed, "ENGINE": POSTGRESQL}
    options = database.setdefault("OPTIONS", {})
    options.setdefault("connect_timeout", 2)
    # Seen in pg_stat_activity.
    options.setdefault("application_name", _program_name())
    if "," in (parsed["HOST"] or str(options.get("host", ""))):
        options.setdefault("target_session_attrs", session)
    # Prepare only on request: runtime/database/postgresql/base.py.
    options.setdefault("prepare_threshold", 1_000_000_000)
    # Prepared statements look up a few rows by key.
    generic = "-c plan_cache_mode=force_generic_plan"
    # A waiting query of a disconnected client must not charge.
    check_client = "-c client_connection_check_interval=500"
    options["options"] = f"{options.get('options', '')} {generic} {check_client}".strip()
    if pool_size:
        # Instances on SQLite don't load the driver.
        from runtime.database.postgresql.base import TimeoutConnection

        options["pool"] = {
            "connection_class": TimeoutConnection,
            "min_size": 1,
            "max_size": pool_size,
            # By default, its delay grows to minutes.
            "reconnect_timeout": 2,
        }
    else:
        database["CONN_MAX_AGE"] = CONNECTION_MAX_AGE
    # runtime/database/postgresql/base.py checks pooled connections.
    database["CONN_HEALTH_CHECKS"] = not pool_size
    return database


def _program_name() -> str:
    command = sys.argv[1] if Path(sys.argv[0]).name == "manage.py" and sys.argv[1:] else "web"
    return f"email-validation {command}"
