"""What a process imports when it starts: commands wait for it, and each web worker keeps it."""

import subprocess
import sys

import pytest

from config.lean_imports import UNUSED
from tests.servers.product import ROOT

pytestmark = pytest.mark.process


def list_imports(statements: str) -> set[str]:
    """Run the statements in a new process with Django set up; return the modules it imported."""
    program = f"import sys, django; django.setup(); {statements}; print(*sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(process.stdout.split())


def test_command_imports_no_view_no_form_and_no_payment_library() -> None:
    imported = list_imports("from credits.management.commands import create_account")
    assert "credits.management.commands.create_account" in imported
    unexpected = {"config.urls", "rest_framework.views", "accounts.admin", "accounts.forms"}
    assert not imported & {*unexpected, "stripe", "fido2"}


def test_url_table_imports_no_unused_optional_package() -> None:
    imported = list_imports("import config.urls")
    assert "rest_framework.views" in imported
    assert not imported & {*UNUSED, "stripe"}


def test_system_checks_cover_the_admin() -> None:
    checks = "from django.core.checks import run_checks; run_checks(tags=['admin'])"
    assert {"accounts.admin", "credits.admin", "validation.admin"} <= list_imports(checks)
