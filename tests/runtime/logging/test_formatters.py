"""A log record is one line in either form, holds no secret, and tells where a crash was."""

import json
import logging
import os
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
in_both_forms = pytest.mark.parametrize("form", FORMATTERS, ids=["text", "json"])


def line(form: logging.Formatter, message: str, error: BaseException | None = None) -> str:
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("test", logging.ERROR, __file__, 1, message, None, info)
    return form.format(record)


@in_both_forms
@pytest.mark.parametrize(
    "end", ["\n", "\r\n", "\0", "\x1b[31m", "\u2028", "\u202e", "\x85", "\ud800"]
)
def test_whatever_it_holds_it_is_one_printable_line(form: logging.Formatter, end: str) -> None:
    text = line(form, f"before{end}after")
    assert end not in text
    assert len(text.splitlines()) == 1
    assert "before\\" in text
    text.encode()


@in_both_forms
@pytest.mark.parametrize("place", ["{}", "/v1/{}", "'{}'", '{{"a": "{}"}}', "{}\\x00", "a{}b"])
def test_a_key_is_masked(form: logging.Formatter, place: str) -> None:
    text = line(form, place.format(SECRET))
    assert "a1B2" not in text
    assert "svc_live_…" in text


@in_both_forms
@pytest.mark.parametrize(
    ("said", "told"),
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
def test_an_address_is_masked(form: logging.Formatter, said: str, told: str) -> None:
    text = line(form, said)
    assert told in text
    for whole in ("jane", "doe", "tag", "password", "joe@", "j@", "a@"):
        assert whole not in text


@in_both_forms
def test_a_long_text_takes_no_longer_than_its_length(form: logging.Formatter) -> None:
    for text in ("a" * 300_000, "a@" * 150_000, '"' * 300_000, "%40" * 100_000):
        assert len(line(form, text)) < 5_000


def test_a_record_for_programs_has_its_fields() -> None:
    formatters.request_id.set("req_1")
    formatters.account_id.set(formatters.NO_ID)
    record = logging.LogRecord("credits", logging.WARNING, __file__, 1, "Paid %s", ("twice",), None)
    record.created = datetime(2026, 11, 22, 6, 0, 0, 7_000, UTC).timestamp()
    told = json.loads(JsonFormatter().format(record))
    assert told == {
        "time": "2026-11-22T06:00:00.007Z",
        "level": "warning",
        "logger": "credits",
        "message": "Paid twice",
        "request_id": "req_1",
        "account_id": None,
    }


def test_djangos_own_record_of_a_crash_is_without_the_path() -> None:
    record = logging.LogRecord("d", logging.ERROR, "", 1, "%s: %s", ("Crash", "/a/secret"), None)
    record.request = type("Request", (), {"path": "/a/secret"})()
    assert formatters.WithoutPath().filter(record)
    assert record.getMessage() == "Crash: …"


@in_both_forms
@pytest.mark.django_db
def test_a_crash_below_the_orm_names_the_database_error_and_our_own_place(
    form: logging.Formatter,
) -> None:
    try:
        User.objects.raw("SELECT 1 FROM no_such_table")[0]
    except DatabaseError as error:
        text = line(form, "Crash", error)
    assert "test_tracing.py:" in text
    assert "(SQLITE_ERROR)" in text or "(42P01)" in text


@in_both_forms
def test_a_crash_is_its_places_in_one_line_without_its_text(form: logging.Formatter) -> None:
    try:
        raise ValueError(f"held {SECRET}")
    except ValueError as error:
        text = line(form, "Crash", error)
    assert "ValueError" in text
    assert "test_tracing.py:" in text
    assert "held" not in text
    assert "Traceback" not in text
    assert len(text.splitlines()) == 1
    if text.startswith("{"):
        assert json.loads(text)["error"] == "ValueError"
        assert json.loads(text)["places"][0].startswith("tests/runtime/logging/test_formatters.py:")


@pytest.mark.process
def test_what_nobody_caught_is_a_record_without_its_text(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.runtime.logging.gevent_uncaught"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 1
    thread, greenlet, warning, process = map(json.loads, ended.stderr.splitlines())
    for crash in (thread, greenlet, process):
        assert (crash["logger"], crash["level"], crash["error"]) == (
            "uncaught",
            "critical",
            "ValueError",
        )
        assert crash["places"][0].startswith("tests/runtime/logging/gevent_uncaught.py:")
    assert warning["logger"] == "py.warnings"
    assert "a1B2" not in ended.stderr
