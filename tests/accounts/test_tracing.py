"""A log record is one line, holds no secret, and tells where a crash was."""

import logging

import pytest
from django.db import DatabaseError

from accounts.models import User
from accounts.tracing import LineFormatter

SECRET = "svc_live_" + "a1B2" * 9


def line(message: str, error: BaseException | None = None) -> str:
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("test", logging.ERROR, __file__, 1, message, None, info)
    return LineFormatter("%(levelname)s %(message)s").format(record)


@pytest.mark.parametrize(
    "end", ["\n", "\r\n", "\0", "\x1b[31m", "\u2028", "\u202e", "\x85", "\ud800"]
)
def test_whatever_it_holds_it_is_one_printable_line(end: str) -> None:
    text = line(f"before{end}after")
    assert end not in text
    assert len(text.splitlines()) == 1
    assert "before\\" in text


@pytest.mark.parametrize("form", ["{}", "/v1/{}", "'{}'", '{{"a": "{}"}}', "{}\\x00", "a{}b"])
def test_a_key_is_masked(form: str) -> None:
    text = line(form.format(SECRET))
    assert "a1B2" not in text
    assert "svc_live_…" in text


@pytest.mark.django_db
def test_a_crash_below_the_orm_names_the_database_error_and_our_own_place() -> None:
    try:
        User.objects.raw("SELECT 1 FROM no_such_table")[0]
    except DatabaseError as error:
        text = line("Crash", error)
    assert "test_tracing.py:" in text
    assert "(SQLITE_ERROR)" in text or "(42P01)" in text


def test_a_crash_is_its_places_in_one_line_without_its_text() -> None:
    try:
        raise ValueError(f"held {SECRET}")
    except ValueError as error:
        text = line("Crash", error)
    assert text.startswith("ERROR Crash | ValueError at ")
    assert "test_tracing.py:" in text
    assert "held" not in text
    assert "Traceback" not in text
    assert len(text.splitlines()) == 1
