"""The engine on the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]


def test_each_address_is_a_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("validate", "jane@example.com", "no address", "jane@shop.com")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["reason"] for line in lines] == [
        "reserved_domain",
        "invalid_syntax",
        "dns_failure",
    ]
    assert all(line["duration_ms"] >= 0 for line in lines)


def test_bytes_that_are_no_text_are_no_address(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("validate", "ja\udcffne@shop.com")
    line = json.loads(capsys.readouterr().out)
    assert line["syntax_error"]["code"] == "control_character"


def test_the_engine_works_without_django() -> None:
    """As the docs say it is used from a script."""
    script = (
        "import sys\n"
        "from validation.engine.check import Engine\n"
        "print(Engine().check('jane@example.com').reason)\n"
        "assert 'django' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "reserved_domain\n"


def test_an_address_that_begins_with_a_hyphen_is_no_option() -> None:
    addresses = ("jane@example.com", "-jane@example.com", "--joe@example.com")
    done = subprocess.run(
        [sys.executable, "manage.py", "validate", *addresses],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "DNS_RESOLVERS": "127.0.0.1:9"},
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["normalized"] for line in lines] == [*addresses]
