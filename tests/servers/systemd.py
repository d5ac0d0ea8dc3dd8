"""Run the commands of the shipped units, as systemd would."""

import shlex
import signal
import subprocess
import sys
from pathlib import Path

from tests.servers.product import ROOT, Product

UNITS = ROOT / "deploy" / "systemd"
WORKER = "email-validation-worker.service"
# Templates: each instance is a pool of web workers, or one process.
WEB = "email-validation-web@.service"
# The same with another release, during an upgrade.
UPGRADE = "email-validation-upgrade@.service"
LISTS, FIRST_LISTS = "email-validation-lists@.service", "email-validation-lists@1.service"
WEBHOOKS = "email-validation-webhooks@.service"
PROBES = "email-validation-probes@.service"
FIRST_WEBHOOKS = "email-validation-webhooks@1.service"


def directives(unit: str, name: str) -> list[str]:
    lines = (UNITS / unit).read_text().splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith(f"{name}=")]


def commands(unit: str, name: str) -> list[list[str]]:
    python = "/usr/bin/env .venv/bin/python"
    return [shlex.split(line.replace(python, sys.executable)) for line in directives(unit, name)]


class WebUnit(Product):
    def __init__(self, folder: Path, **environment: str) -> None:
        """Start the web unit. It opens its own socket."""
        super().__init__(folder, errors=None, WEB_POOL="api", **environment)

    def launch(self, output: int, errors: int) -> "subprocess.Popen[bytes]":
        for command in commands(WEB, "ExecStartPre"):
            assert self._start(command, output, errors).wait() == 0
        (command,) = commands(WEB, "ExecStart")
        return self._start(command, output, errors)

    def _start(self, command: list[str], output: int, errors: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            command, cwd=ROOT, env=self.process_environment, stdout=output, stderr=errors
        )


class WorkerUnit:
    def __init__(self, web: WebUnit) -> None:
        """Start the worker unit, with the settings of the web unit."""
        (command,) = commands(WORKER, "ExecStart")
        with web.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=web.process_environment, stdout=log, stderr=log
            )

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)
