"""Start and stop the measured web servers, each on a free loopback port."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from tests.bench.load import Address
from tests.servers.product import ROOT

START_SECONDS = 20
STOP_SECONDS = 15


class Server(NamedTuple):
    address: Address
    pid: int


class ServerDidNotStart(Exception):
    pass


@contextmanager
def gunicorn(
    application: str, arguments: Sequence[str], environment: dict[str, str], first_request: bytes
) -> Iterator[Server]:
    """Run gunicorn, and yield when the first request is answered.

    gunicorn listens long before its workers are ready.
    """
    address = _free_address()
    options = ["--bind", f"{address.host}:{address.port}", "--log-level", "warning"]
    # gunicorn would write its control socket into the home folder.
    options.append("--no-control-socket")
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", *options, *arguments, application],
        cwd=ROOT,
        # Don't inherit the shell's environment, which could change what is measured.
        env={"PATH": os.environ["PATH"], **environment},
        stdout=subprocess.DEVNULL,
    )
    try:
        _wait_until_ready(process, address, first_request)
        yield Server(address, process.pid)
    finally:
        _stop(process)


def _free_address() -> Address:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return Address(*probe.getsockname())


def _wait_until_ready(process: "subprocess.Popen[bytes]", address: Address, request: bytes) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection(address, timeout=START_SECONDS) as connection:
                connection.sendall(request)
                if connection.recv(1):
                    return
        except ConnectionError:
            time.sleep(0.05)
    raise ServerDidNotStart(f"No server answers on {address.host}:{address.port}.")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
