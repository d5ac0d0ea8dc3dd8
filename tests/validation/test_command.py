"""`manage.py validate` and the engine without Django."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

ROOT = Path(__file__).resolve().parents[2]


def test_each_address_prints_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("validate", "jane@example.com", "no address", "jane@shop.com")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["reason"] for line in lines] == [
        "reserved_domain",
        "invalid_syntax",
        "dns_failure",
    ]
    assert all(line["duration_ms"] >= 0 for line in lines)


def test_undecodable_bytes_are_invalid_syntax(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("validate", "ja\udcffne@shop.com")
    line = json.loads(capsys.readouterr().out)
    assert line["syntax_error"]["code"] == "control_character"


def test_engine_works_without_django() -> None:
    """The docs describe how to use it from a script."""
    script = (
        "import sys\n"
        "from engine.check import Engine\n"
        "print(Engine().check('jane@example.com').reason)\n"
        "assert 'django' not in sys.modules\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert process.stdout == "reserved_domain\n"


def test_address_that_starts_with_a_hyphen_is_not_an_option() -> None:
    addresses = ("jane@example.com", "-jane@example.com", "--joe@example.com")
    process = subprocess.run(
        [sys.executable, "manage.py", "validate", *addresses],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "DNS_RESOLVERS": "127.0.0.1:9"},
    )
    lines = [json.loads(line) for line in process.stdout.splitlines()]
    assert [line["normalized"] for line in lines] == [*addresses]
