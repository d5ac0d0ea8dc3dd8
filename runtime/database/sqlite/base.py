"""Extend Django's SQLite backend with a wait for locks that lets other greenlets run.

SQLite's `timeout` waits in C, which blocks all greenlets, even the lock's holder. So it is 0, and
an execute wrapper polls.
"""

import random
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base

from runtime.database.timeouts import query_timeout

# Enough for a charge and its row in the request log.
MIN_FREE_BYTES = 64 * 1024
# For commands and the background worker.
DEFAULT_TIMEOUT = 20.0
# Random, so that processes don't collide again.
_PAUSES = (0.0003, 0.003)
# One greenlet polls, and the others queue.
_polling = threading.Lock()


class DatabaseWrapper(base.DatabaseWrapper):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute_wrappers.append(_run_when_unlocked)

    def is_available(self) -> bool:
        """Return whether the file has tables, and its disk has room."""
        with self.cursor() as cursor:
            cursor.execute("PRAGMA schema_version")
            has_schema = bool(cursor.fetchone()[0])
        disk = shutil.disk_usage(Path(self.settings_dict["NAME"]).parent)
        # Some file systems report a size of 0.
        return has_schema and (not disk.total or disk.free >= MIN_FREE_BYTES)


def _run_when_unlocked(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    deadline = time.monotonic() + (query_timeout.get() or DEFAULT_TIMEOUT)
    try:
        return execute(sql, params, many, context)
    except OperationalError as error:
        if not _is_busy(error):
            raise
    with _polling:
        while True:
            try:
                return execute(sql, params, many, context)
            except OperationalError as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(random.uniform(*_PAUSES))  # noqa: S311 - not used for security


def _is_busy(error: OperationalError) -> bool:
    return getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
