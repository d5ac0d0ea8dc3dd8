"""Log records are one line in both formats, contain no secrets, and locate crashes."""

import json
import logging
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.db import DatabaseError

from accounts.models import User
from runtime.logging import formatters
from runtime.logging.formatters import JsonFormatter, LineFormatter
from tests.servers.product import ROOT

SECRET = "svc_live_" + "a1B2" * 9
FORMATTERS = [LineFormatter("%(levelname)s %(message)s"), JsonFormatter()]
in_both_formats = pytest.mark.parametrize("formatter", FORMATTERS, ids=["text", "json"])


def line(formatter: logging.Formatter, message: str, error: BaseException | None = None) -> str:
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("test", logging.ERROR, __file__, 1, message, None, info)
    return formatter.format(record)


@in_both_formats
@pytest.mark.parametrize(
    "character", ["\n", "\r\n", "\0", "\x1b[31m", "\u2028", "\u202e", "\x85", "\ud800"]
)
def test_record_is_one_printable_line_whatever_it_contains(
    formatter: logging.Formatter, character: str
) -> None:
    text = line(formatter, f"before{character}after")
    assert character not in text
    assert len(text.splitlines()) == 1
    assert "before\\" in text
    text.encode()


@in_both_formats
@pytest.mark.parametrize("template", ["{}", "/v1/{}", "'{}'", '{{"a": "{}"}}', "{}\\x00", "a{}b"])
def test_api_key_is_masked(formatter: logging.Formatter, template: str) -> None:
    text = line(formatter, template.format(SECRET))
    assert "a1B2" not in text
    assert "svc_live_…" in text


@in_both_formats
def test_values_of_secret_settings_are_masked(
    formatter: logging.Formatter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formatters, "_values", formatters._values)
    formatters.mask_values(["(word", "(word.)+longer"])
    assert "login as …, then … failed" in line(
        formatter, "login as (word, then (word.)+longer failed"
    )
    formatters.mask_values([])
    assert "(word" in line(formatter, "login as (word failed")


@in_both_formats
@pytest.mark.parametrize(
    ("message", "masked"),
    [
        ("jane@shop.example", "j…@shop.example"),
        ("Key (email)=(jane@shop.example) already exists", "Key (email)=(j…@shop.example) already"),
        ("<jane@shop.example>: 550 no such user", "<j…@shop.example>: 550"),
        ("/accounts/x?email=jane%40shop.example&a=b", "email=j…@shop.example&a=b"),
        ("{'jane+tag@shop.example': 1}", "j…@shop.example"),
        ('"jane doe"@shop.example', "…@shop.example"),
        ("jane@[192.0.2.1]", "j…@"),
        ("jané@bücher.example", "j…@bücher.example"),
        ("jane＠shop.example", "j…@shop.example"),
        ("a@b@shop.example", "…@shop.example"),
        ("j@shop.example", "…@shop.example"),
        ("postgres://user:password@db.example/x", "p…@db.example"),
        ("jane@one.example,joe@two.example", "j…@one.example,j…@two.example"),
    ],
)
def test_email_address_is_masked(formatter: logging.Formatter, message: str, masked: str) -> None:
    text = line(formatter, message)
    assert masked in text
    for private in ("jane", "doe", "tag", "password", "joe@", "j@", "a@"):
        assert private not in text


@in_both_formats
def test_long_message_is_cut_off_in_linear_time(formatter: logging.Formatter) -> None:
    for text in ("a" * 300_000, "a@" * 150_000, '"' * 300_000, "%40" * 100_000):
        assert len(line(formatter, text)) < 5_000


def test_json_record_has_the_documented_fields() -> None:
    formatters.current_request_id.set("req_1")
    formatters.current_account_id.set(formatters.NO_ID)
    record = logging.LogRecord("credits", logging.WARNING, __file__, 1, "Paid %s", ("twice",), None)
    record.created = datetime(2026, 11, 22, 6, 0, 0, 7_000, UTC).timestamp()
    fields = json.loads(JsonFormatter().format(record))
    assert fields == {
        "time": "2026-11-22T06:00:00.007Z",
        "level": "warning",
        "logger": "credits",
        "message": "Paid twice",
        "request_id": "req_1",
        "account_id": None,
    }


@in_both_formats
def test_facts_of_an_event_are_fields(formatter: logging.Formatter) -> None:
    logger = logging.getLogger("accounts.webhooks")
    facts = {"status": 200, "duration_ms": 12, "to": "jane@shop.example", "request": object()}
    record = logger.makeRecord("x", logging.INFO, "x.py", 1, "Sent", (), None, extra=facts)
    line = formatter.format(record)
    assert re.search(r'status"?[:=]200', line)
    assert re.search(r'to"?[:=]"?j…@shop\.example', line)
    assert "object" not in line


def test_path_is_removed_from_djangos_crash_records() -> None:
    record = logging.LogRecord("d", logging.ERROR, "", 1, "%s: %s", ("Crash", "/a/secret"), None)
    record.request = type("Request", (), {"path": "/a/secret"})()
    assert formatters.WithoutPath().filter(record)
    assert record.getMessage() == "Crash: …"


@in_both_formats
@pytest.mark.django_db
def test_database_error_has_its_code_and_our_location(formatter: logging.Formatter) -> None:
    try:
        User.objects.raw("SELECT 1 FROM no_such_table")[0]
    except DatabaseError as error:
        text = line(formatter, "Crash", error)
    assert "test_formatters.py:" in text
    assert "(SQLITE_ERROR)" in text or "(42P01)" in text


@in_both_formats
def test_crash_is_logged_as_locations_without_the_message(formatter: logging.Formatter) -> None:
    try:
        raise ValueError(f"contains {SECRET}")
    except ValueError as error:
        text = line(formatter, "Crash", error)
    assert "ValueError" in text
    assert "test_formatters.py:" in text
    assert "contains" not in text
    assert "Traceback" not in text
    assert len(text.splitlines()) == 1
    if text.startswith("{"):
        assert json.loads(text)["error"] == "ValueError"
        assert json.loads(text)["places"][0].startswith("tests/runtime/logging/test_formatters.py:")


@pytest.mark.process
def test_uncaught_exception_is_logged_without_its_message(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "tests.runtime.logging.gevent_uncaught"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert process.returncode == 1
    thread, greenlet, warning, main = map(json.loads, process.stderr.splitlines())
    for crash in (thread, greenlet, main):
        assert (crash["logger"], crash["level"], crash["error"]) == (
            "uncaught",
            "critical",
            "ValueError",
        )
        assert crash["places"][0].startswith("tests/runtime/logging/gevent_uncaught.py:")
    assert warning["logger"] == "py.warnings"
    assert "a1B2" not in process.stderr


@in_both_formats
@pytest.mark.parametrize(
    "path", ["/accounts/invitations/", "/accounts/password/reset/key/", "/reference/opt-out/"]
)
def test_links_that_give_access_are_masked(formatter: logging.Formatter, path: str) -> None:
    text = line(formatter, f"GET {path}InNob3AuY29tIg:1w:s-_/ failed")
    assert "InNob3" not in text
    assert path in text
