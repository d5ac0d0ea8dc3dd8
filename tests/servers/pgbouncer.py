"""PgBouncer in transaction mode in front of a test's PostgreSQL, set up as the handbook says."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from tests.servers.installed import find_program
from tests.servers.product import ROOT
from tests.servers.redis import free_port, wait_for_port

CHAPTER = ROOT / "docs" / "operations" / "pgbouncer.md"


@contextmanager
def pgbouncer(
    database_url: str, target: str = "", extra: str = "", **changed: str
) -> Iterator[str]:
    """Start it with the settings of the handbook; `changed` overrides some. Yield its URL.

    `target` replaces the database's line, with {} for host and port. `extra` is appended.
    """
    url = urlsplit(database_url)
    program, port = find_program("pgbouncer", "/usr/sbin"), free_port()
    with tempfile.TemporaryDirectory(prefix="pgbouncer-") as name:
        folder = Path(name)
        file = folder / "pgbouncer.ini"
        file.write_text(f"{_settings(url, folder, port, changed, target)}\n{extra}\n")
        (folder / "userlist.txt").write_text(f'"{url.username}" "{url.password}"\n')
        # It refuses to run as root.
        user = "nobody" if os.geteuid() == 0 else None
        for path in (folder, *folder.iterdir()):
            shutil.chown(path, user or os.geteuid())
        with subprocess.Popen([program, "-q", str(file)], user=user) as process:
            try:
                wait_for_port(port)
                yield f"postgres://{url.username}:{url.password}@127.0.0.1:{port}{url.path}"
            finally:
                process.terminate()


def _settings(
    url: SplitResult, folder: Path, port: int, changed: dict[str, str], target: str
) -> str:
    """Return the handbook's pgbouncer.ini with the paths and ports of this test."""
    match = re.search(r"```ini\n(.*?)```", CHAPTER.read_text(), re.DOTALL)
    assert match
    text = match[1]
    values = {
        "listen_addr": "127.0.0.1",
        "listen_port": str(port),
        "auth_file": f"{folder}/userlist.txt",
        "logfile": f"{folder}/pgbouncer.log",
        "pidfile": f"{folder}/pgbouncer.pid",
        "unix_socket_dir": "",
        **changed,
    }
    for name, value in values.items():
        text, times = re.subn(rf"^{name} = .*", f"{name} = {value}", text, flags=re.M)
        assert times, f"The handbook's pgbouncer.ini does not set {name}."
    if target:
        line = f"validation = {target.format(url.hostname, url.port)}"
        return re.sub(r"^validation = .*", line, text, flags=re.M)
    return re.sub(r"host=\S+ port=\S+", f"host={url.hostname} port={url.port}", text)
