"""Run management commands of a product, each in a fork of one process that has imported it.

Importing the product takes a second of CPU, most commands much less.
"""

import json
import os
import subprocess
import sys
import tempfile
import traceback
from threading import Lock
from typing import IO

from tests.servers.product import ROOT


class Commands:
    """Management commands with one environment, until it is closed."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = dict(environment)
        self._lock = Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.commands"],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> str:
        """Run a command, which must succeed, and return what it prints."""
        assert self._process.stdin
        assert self._process.stdout
        with self._lock:
            self._process.stdin.write(json.dumps(arguments) + "\n")
            self._process.stdin.flush()
            code, output, errors = json.loads(self._process.stdout.readline())
        if code:
            raise subprocess.CalledProcessError(code, arguments, output, errors)
        return str(output)

    @property
    def is_closed(self) -> bool:
        return self._process.returncode is not None

    def close(self) -> None:
        if not self.is_closed:
            self._process.communicate()


def serve() -> None:
    """Run the commands that standard input names, one a line."""
    import django
    from django.urls import get_resolver

    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    # As in manage.py: other users may not read what a command writes.
    os.umask(0o077)
    django.setup()
    # The checks before a command import all views.
    _ = get_resolver().url_patterns
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            code = _fork(json.loads(line), output, errors)
            print(json.dumps([code, _read(output), _read(errors)]), flush=True)


def _fork(arguments: list[str], output: IO[str], errors: IO[str]) -> int:
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        os.dup2(output.fileno(), 1)
        os.dup2(errors.fileno(), 2)
        code = _execute(arguments)
        sys.stdout.flush()
    finally:
        os._exit(code)


def _execute(arguments: list[str]) -> int:
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(["manage.py", *arguments])
    except SystemExit as end:
        return int(end.code or 0)
    except Exception:
        traceback.print_exc()
        return 1
    return 0


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


if __name__ == "__main__":
    serve()
