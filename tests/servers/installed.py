"""Find programs that only some tests need."""

import os
import shutil

import pytest


def find_program(name: str, *folders: str) -> str:
    """Return the path of a program, or skip the test, unless all tests are required."""
    program = shutil.which(name, path=":".join([os.environ["PATH"], *folders]))
    if program:
        return program
    missing = f"This test needs {name}, which is not on the PATH."
    if os.environ.get("JOURNEYS") == "required":
        pytest.fail(missing)
    pytest.skip(missing)
