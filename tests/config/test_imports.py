"""What a process imports when it starts: commands wait for it, and each web worker keeps it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.product import ROOT

pytestmark = pytest.mark.process

# Libraries for invoices, card payments, errors and files. Each is imported where it's used.
NOT_AT_START = {"PIL", "fontTools", "fpdf", "sentry_sdk", "stripe", "uharfbuzz", "xlsxwriter"}


def list_imports(statements: str, **environment: str) -> set[str]:
    """Run the statements in a new process with Django set up; return the modules it imported."""
    program = f"import sys, django; django.setup(); {statements}; print(*sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(process.stdout.split())


def test_command_imports_no_view_no_form_and_no_payment_library() -> None:
    imported = list_imports("from credits.management.commands import create_account")
    assert "credits.management.commands.create_account" in imported
    unexpected = {"config.urls", "rest_framework.views", "accounts.admin", "accounts.forms"}
    assert not imported & {*unexpected, "stripe", "fido2"}


@pytest.mark.parametrize(
    "redis_url", ["", pytest.param("redis://127.0.0.1:9/0", marks=pytest.mark.proof)]
)
def test_web_worker_imports_at_start_only_what_its_requests_need(
    tmp_path: Path, redis_url: str
) -> None:
    statements = "import config.wsgi; from django.core.cache import caches; caches['counters']"
    environment = {"DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    imported = list_imports(statements, **environment, REDIS_URL=redis_url)
    assert {"config.urls", "redis" if redis_url else "sqlite3"} <= imported
    assert not imported & NOT_AT_START


def test_system_checks_cover_the_admin() -> None:
    checks = "from django.core.checks import run_checks; run_checks(tags=['admin'])"
    assert {"accounts.admin", "credits.admin", "validation.admin"} <= list_imports(checks)
