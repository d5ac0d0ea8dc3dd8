"""`manage.py validate` and the engine without Django."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

ROOT = Path(__file__).resolve().parents[2]


def test_each_address_prints_one_line_of_json() -> None:
    # A hyphen begins no option, and bytes that can't be decoded are invalid syntax.
    addresses = ("-jane@example.com", "--joe@example.com", "ja\udcffne@shop.com", "jane@shop.com")
    process = subprocess.run(
        [sys.executable, "manage.py", "validate", *addresses],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "DNS_RESOLVERS": "127.0.0.1:9"},
    )
    lines = [json.loads(line) for line in process.stdout.splitlines()]
    reasons = ["reserved_domain", "reserved_domain", "invalid_syntax", "dns_failure"]
    assert [line["reason"] for line in lines] == reasons
    assert [line["normalized"] for line in lines[:2]] == [*addresses[:2]]
    assert lines[2]["syntax_error"]["code"] == "control_character"
    assert all(line["duration_ms"] >= 0 for line in lines)


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
