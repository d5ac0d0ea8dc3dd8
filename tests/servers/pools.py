"""The product as on one machine in production: a pool of web workers per unit, behind nginx."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from config.server.pools import POOLS
from config.server.supervisor import WEB_SERVER
from tests.servers.product import ROOT, Product
from tests.servers.redis import free_port

# The units have a weight instead (CPUWeight), which needs control groups.
NICENESS = {"api": 0, "bulk": 7, "pages": 3}
PREPARE = [sys.executable, "-m", "config.server.prepare"]


class Pools(Product):
    def __init__(self, folder: Path, **environment: str) -> None:
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        super().__init__(folder, errors=None, PORT=str(_free_ports()), **environment)
        self.port = int(self.environment["PORT"])
        self.url = f"http://127.0.0.1:{self.port}"

    def port_of(self, pool: str) -> int:
        return self.port + POOLS[pool].port_offset

    @property
    def ports(self) -> tuple[int, ...]:
        """Return the ports in the order of POOLS, as for `reverse_proxy`."""
        return tuple(map(self.port_of, POOLS))

    def launch(self, output: int, errors: int) -> "subprocess.Popen[bytes]":
        self._start(PREPARE, 0, output, errors, "api").wait()
        for pool, niceness in NICENESS.items():
            self.processes[pool] = self._start(WEB_SERVER, niceness, output, errors, pool)
        return self.processes["api"]

    def _start(
        self, command: list[str], niceness: int, output: int, errors: int, pool: str
    ) -> "subprocess.Popen[bytes]":
        environment = {**self.process_environment, "WEB_POOL": pool}
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=output,
            stderr=errors,
            preexec_fn=lambda: os.nice(niceness),  # noqa: PLW1509
        )

    def output(self) -> str:
        """Return the log, with "Ready." only once all pools are."""
        text = super().output()
        return text if text.count("Ready.") == len(POOLS) else text.replace("Ready.", "")

    def stop(self) -> None:
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        super().stop()
        for process in self.processes.values():
            process.wait(timeout=40)


@contextmanager
def pools(folder: Path, **environment: str) -> Iterator[Pools]:
    running = Pools(folder, **environment)
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.stop()


def _free_ports() -> int:
    """Return the first of three free ports in a row."""
    while True:
        first = free_port()
        with suppress(OSError):
            for port in range(first, first + len(POOLS)):
                socket.create_server(("127.0.0.1", port)).close()
            return first
