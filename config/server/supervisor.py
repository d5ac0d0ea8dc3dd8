"""Run the web server and the workers for `make serve`.

This process imports no Django, to save memory. In production, systemd replaces it.
"""

import ctypes
import logging
import os
import resource
import signal
import subprocess
import sys
import time
from types import FrameType

from config.server.environment import configure_logging, is_on, read_variable

logger = logging.getLogger("config.server.supervisor")

PREPARE = [sys.executable, "-m", "config.server.prepare_local"]
SETTINGS = "config/server/gunicorn_settings.py"
WEB_SERVER = [sys.executable, "-m", "gunicorn", "--config", SETTINGS, "config.wsgi"]
BACKGROUND_WORKER = [sys.executable, "manage.py", "run_worker"]
LIST_WORKER = [sys.executable, "manage.py", "run_lists"]
WEBHOOK_WORKER = [sys.executable, "manage.py", "run_webhooks"]
PROBE_WORKER = [sys.executable, "manage.py", "run_probes"]
# As in run_lists.py, but set earlier: importing the product takes most of a second of CPU.
LIST_NICENESS = 19
RESTART_SECONDS = 1
STOP_SECONDS = 15
# More than a web worker's connections.
MAX_OPEN_FILES = 65_536


def main() -> int:
    # Only the user who runs this may read the database, emails and secrets.
    os.umask(0o077)
    # The usual limit of open files is too low.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(MAX_OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if status := _start(PREPARE).wait():
        return status
    configure_logging()
    return Supervisor().run()


class Worker:
    def __init__(self, command: list[str]) -> None:
        self.command = command
        self.process = _start(command)

    def restart_if_ended(self) -> None:
        if self.process.poll() is None:
            return
        logger.warning("`manage.py %s` ended; restarting it.", self.command[-1])
        time.sleep(RESTART_SECONDS)
        self.process = _start(self.command)

    def wait(self, deadline: float) -> None:
        try:
            self.process.wait(timeout=max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            # It's waiting for a mail server, the DNS or a receiver of webhooks. The row's lease
            # expires, and the work is done again.
            self.process.kill()


class Supervisor:
    def __init__(self) -> None:
        self.stopping = False
        self.web = _start(WEB_SERVER)
        commands = [
            BACKGROUND_WORKER,
            *[LIST_WORKER] * int(read_variable("LIST_PROCESSES", "1")),
            *[WEBHOOK_WORKER] * int(read_variable("WEBHOOK_PROCESSES", "1")),
        ]
        if is_on("PROBE_MAILBOX_CHECKS"):
            commands += [PROBE_WORKER] * int(read_variable("PROBE_PROCESSES", "1"))
        self.workers = [Worker(command) for command in commands]
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)

    def run(self) -> int:
        while (status := self.web.poll()) is None:
            for worker in self.workers:
                if not self.stopping:
                    worker.restart_if_ended()
            time.sleep(0.2)
        self._terminate_workers()
        deadline = time.monotonic() + STOP_SECONDS
        for worker in self.workers:
            worker.wait(deadline)
        return 0 if self.stopping else status

    def _terminate_workers(self) -> None:
        for worker in self.workers:
            worker.process.terminate()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True
        self.web.terminate()
        self._terminate_workers()


def _start(command: list[str]) -> "subprocess.Popen[bytes]":
    niceness = LIST_NICENESS if command == LIST_WORKER else 0
    return subprocess.Popen(command, preexec_fn=lambda: _set_up_child(niceness))  # noqa: PLW1509


def _set_up_child(niceness: int) -> None:
    """Set the priority, and on Linux, stop the child if the supervisor is killed."""
    os.nice(niceness)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
