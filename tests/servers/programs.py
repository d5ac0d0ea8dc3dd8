"""Run Python programs, each in a fork of one process that has imported the libraries.

Starting Python and importing libraries takes half of what a short program takes, or most of it if
the settings refuse to start. The product is not imported: each program reads settings of its own.
Gunicorn can't run like this: gevent must patch Python before the libraries are imported.
"""

import atexit
import json
import os
import runpy
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock

ROOT = Path(__file__).resolve().parents[2]
# What `manage.py check` imports, as far as that is possible without settings.
LIBRARIES = (
    *("argon2", "cryptography.fernet", "dns.resolver", "django.contrib.auth.hashers"),
    *("django.core.management", "django.db.models", "django.forms", "django.template.response"),
    *("django.contrib.staticfiles.storage", "drf_spectacular", "email_validator", "psycopg_pool"),
    *("prometheus_client", "pygments", "whitenoise.middleware"),
)


class ForkingProcess:
    """A process that runs `wait_for_arguments`, and forks for each list of arguments."""

    def __init__(self, module: str, environment: dict[str, str]) -> None:
        self._lock = Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, arguments: tuple[object, ...]) -> "subprocess.CompletedProcess[str]":
        assert self._process.stdin
        assert self._process.stdout
        with self._lock:
            self._process.stdin.write(json.dumps(arguments) + "\n")
            self._process.stdin.flush()
            code, output, errors = json.loads(self._process.stdout.readline())
        return subprocess.CompletedProcess(json.dumps(arguments), code, output, errors)

    @property
    def is_closed(self) -> bool:
        return self._process.returncode is not None

    def close(self) -> None:
        if not self.is_closed:
            self._process.communicate()


def run_program(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run `python` with these arguments in the repository, and with only this environment."""
    return _start().run((arguments, {"PATH": os.environ["PATH"], **environment}))


@cache
def _start() -> ForkingProcess:
    """Start the process that forks, until the tests end."""
    process = ForkingProcess("tests.servers.programs", {})
    atexit.register(process.close)
    return process


def wait_for_arguments() -> list[object] | None:
    """Fork for each line of standard input; return the arguments in it in the fork."""
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            child = os.fork()
            if not child:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(output.fileno(), 1)
                os.dup2(errors.fileno(), 2)
                arguments: list[object] = json.loads(line)
                return arguments
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            for file in (output, errors):
                file.seek(0)
            print(json.dumps([code, output.read(), errors.read()]), flush=True)
    return None


def execute(arguments: list[str], environment: dict[str, str]) -> None:
    """Do what `python` does with these arguments, for one of `-m module`, `-c code` and a file."""
    os.environ.clear()
    os.environ.update(environment)
    sys.path[1:1] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    option, *others = arguments
    if option == "-m":
        sys.argv = others
        runpy.run_module(others[0], run_name="__main__", alter_sys=True)
    elif option == "-c":
        sys.argv = ["-c", *others[1:]]
        exec(others[0], {"__name__": "__main__"})  # noqa: S102
    else:
        sys.argv = arguments
        runpy.run_path(option, run_name="__main__")


if __name__ == "__main__":
    for library in LIBRARIES:
        import_module(library)
    # The program ends as any Python program does, with its exit status or traceback.
    if program := wait_for_arguments():
        execute(*program)  # type: ignore[arg-type]
