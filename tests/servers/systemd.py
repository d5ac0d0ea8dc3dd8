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
LISTS, FIRST_LISTS = "email-validation-lists@.service", "email-validation-lists@1.service"
WEBHOOKS = "email-validation-webhooks@.service"
PROBES = "email-validation-probes@.service"
FIRST_WEBHOOKS = "email-validation-webhooks@1.service"


def directives(unit: str, name: str) -> list[str]:
    lines = (UNITS / unit).read_text().splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith(f"{name}=")]


def commands(unit: str, name: str) -> list[list[str]]:
    python = "/srv/email-validation/.venv/bin/python"
    return [shlex.split(line.replace(python, sys.executable)) for line in directives(unit, name)]


class WebUnit(Product):
    def __init__(self, folder: Path, program: Path = ROOT, **environment: str) -> None:
        """Start the web unit, with its program in this folder."""
        self.program = program
        super().__init__(folder, errors=None, WEB_POOL="api", **environment)

    def launch(self, output: int, errors: int) -> "subprocess.Popen[bytes]":
        for command in commands(WEB, "ExecStartPre"):
            assert self._start(command, output, errors).wait() == 0
        (command,) = commands(WEB, "ExecStart")
        return self._start(command, output, errors)

    def reload(self) -> bool:
        """Run the ExecReload lines until one fails. Return whether all succeeded."""
        with self.log.open("ab") as log:
            return all(
                self._start(
                    [word.replace("$MAINPID", str(self.process.pid)) for word in command],
                    log.fileno(),
                    log.fileno(),
                ).wait()
                == 0
                for command in commands(WEB, "ExecReload")
            )

    def _start(self, command: list[str], output: int, errors: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            command, cwd=self.program, env=self.process_environment, stdout=output, stderr=errors
        )


class WorkerUnit:
    def __init__(self, web: WebUnit) -> None:
        """Start the worker unit, with the settings of the web unit."""
        (command,) = commands(WORKER, "ExecStart")
        with web.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=web.program, env=web.process_environment, stdout=log, stderr=log
            )

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)
