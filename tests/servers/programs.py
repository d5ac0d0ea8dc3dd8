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
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# What `manage.py check` imports, as far as that is possible without settings.
LIBRARIES = (
    *("argon2", "cryptography.fernet", "dns.resolver", "django.contrib.auth.hashers"),
    *("django.core.management", "django.db.models", "django.forms", "django.template.response"),
    *("django.contrib.staticfiles.storage", "drf_spectacular", "email_validator", "psycopg_pool"),
    *("prometheus_client", "pygments", "whitenoise.middleware"),
)


def run_program(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run `python` with these arguments in the repository, and with only this environment."""
    forking = _start()
    assert forking.stdin
    assert forking.stdout
    program = {"arguments": arguments, "environment": {"PATH": os.environ["PATH"], **environment}}
    forking.stdin.write(json.dumps(program) + "\n")
    forking.stdin.flush()
    code, output, errors = json.loads(forking.stdout.readline())
    return subprocess.CompletedProcess(arguments, code, output, errors)


@cache
def _start() -> "subprocess.Popen[str]":
    """Start the process that forks, until the tests end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.programs"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)
    return process


def wait_for_program() -> dict[str, Any] | None:
    """Fork for each program that standard input names; return it in the fork."""
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            child = os.fork()
            if not child:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(output.fileno(), 1)
                os.dup2(errors.fileno(), 2)
                program: dict[str, Any] = json.loads(line)
                return program
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
    if program := wait_for_program():
        execute(**program)
