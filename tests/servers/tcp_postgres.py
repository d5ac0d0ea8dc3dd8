"""A PostgreSQL server with a password on a loopback port, for processes of other users.

It's the version that compose.yaml runs, if that is installed, or else the tests' own.
"""

import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.servers.postgres import prepend_postgres_programs
from tests.servers.product import ROOT
from tests.servers.redis import free_port, wait_for_port

PASSWORD = "invented-for-tests-only"
# PostgreSQL refuses to run as root.
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


class TcpPostgres(NamedTuple):
    url: str
    major: int

    @property
    def url_with_password(self) -> str:
        return self.url.replace("@", f":{PASSWORD}@")


def compose_major() -> int:
    """Return the major version of PostgreSQL that compose.yaml runs."""
    match = re.search(r"image: postgres:(\d+)", (ROOT / "compose.yaml").read_text())
    assert match
    return int(match[1])


@contextmanager
def tcp_postgres(programs: Path | None = None) -> Iterator[TcpPostgres]:
    """Start a server with an empty database, whose URL has no password."""
    programs = programs or _programs()
    port = free_port()
    # Not below pytest's folders, which other users may not enter.
    with tempfile.TemporaryDirectory(prefix="postgres-") as name:
        folder = Path(name)
        (folder / "password").write_text(PASSWORD)
        for path in (folder, folder / "password"):
            shutil.chown(path, 65534, 65534)
        initialize = [str(programs / "initdb"), f"--pgdata={folder}/data", "--username=validation"]
        initialize += ["--encoding=UTF8", "--auth=scram-sha-256", f"--pwfile={folder}/password"]
        subprocess.run([*NOBODY, *initialize], cwd="/", check=True, capture_output=True)
        server = [str(programs / "postgres"), "-D", f"{folder}/data", "-h", "127.0.0.1", "-k", ""]
        with (folder / "log").open("w") as log:
            process = subprocess.Popen([*NOBODY, *server, "-p", str(port)], cwd="/", stderr=log)
        try:
            wait_for_port(port)
            yield TcpPostgres(
                f"postgres://validation@127.0.0.1:{port}/postgres", _major(programs / "postgres")
            )
        finally:
            # Unlike SIGTERM, this doesn't wait until clients disconnect.
            process.send_signal(signal.SIGINT)
            process.wait(timeout=20)


def oldest_programs() -> Path:
    """Return the folder of the oldest version that the tests' package has."""
    newest = Path(prepend_postgres_programs("").rstrip(":"))
    return min(newest.parents[1].glob("pginstall*/bin"))


def _programs() -> Path:
    installed = Path(f"/usr/lib/postgresql/{compose_major()}/bin")
    return installed if installed.exists() else Path(prepend_postgres_programs("").rstrip(":"))


def _major(program: Path) -> int:
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    match = re.search(r"(\d+)\.", printed.stdout)
    assert match
    return int(match[1])
