"""What stands in every log record: the id of the request at hand and of its account, and no secret.

A record is one line whatever it holds, and a crash is the places it went through: the text of a
traceback would carry what the program had in its hands into the log.
"""

import logging
import re
import sys
import threading
import time
import traceback
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

NO_ID = "-"
request_id: ContextVar[str] = ContextVar("request_id", default=NO_ID)
account_id: ContextVar[str] = ContextVar("account_id", default=NO_ID)

# Links that open something, and keys, also without their prefix or oddly written: a refused request
# is logged with its path. The request's own id is known to be none, and stays whole.
_SECRETS = re.compile(
    r"(/accounts/(?:invitations|password/reset/key)/|(?i:svc.?live.?))[^/\s'\"\\]+"
    r"|[0-9A-Za-z]{38,}"
)
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# What may be an address is looked at word by word: a pattern of the whole would go over a long text
# again and again. A quoted local part may hold spaces.
_QUOTED = re.compile(r"\"[^\"]{0,200}\"(?=@|%40)")
_WORD = re.compile(r"[^\s<>()\[\],;:'\"\\/=&?|]+")
_AT = re.compile(r"@|%40|\uff20|\ufe6b")
# More is no message. What it would have said, the places of a crash say.
_LONGEST = 2000
_ROOT = f"{Path(__file__).resolve().parents[2]}/"
_PLACES = 6
_FRACTIONS = [f"{number:03d}" for number in range(1000)]


class LineFormatter(logging.Formatter):
    """For people."""

    def format(self, record: logging.LogRecord) -> str:
        record.request_id, record.account_id = request_id.get(), account_id.get()
        record.message = redact(record.getMessage())
        record.asctime = self.formatTime(record, self.datefmt)
        line = self.formatMessage(record)
        if error := _error_of(record):
            places = " < ".join(error_places(error)) or "an unknown place"
            line += f" | {error_name(error)} at {places}"
        return _UNPRINTABLE.sub(_escaped, line)


class JsonFormatter(logging.Formatter):
    """For programs: an object a line."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": iso_timestamp(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact(record.getMessage()),
            "request_id": known(request_id.get()),
            "account_id": known(account_id.get()),
        }
        if error := _error_of(record):
            told |= {"error": error_name(error), "places": error_places(error)}
        return orjson.dumps(told).decode()


def mask_secrets(text: str) -> str:
    return _SECRETS.sub(_masked, text)


def redact(text: str) -> str:
    """Without what is nobody's business, and on one line."""
    text = _SECRETS.sub(_masked, text[: 10 * _LONGEST])
    if _AT.search(text):
        text = _WORD.sub(_masked_address, _QUOTED.sub('"…"', text))
    return _UNPRINTABLE.sub(_escaped, text[:_LONGEST])


def iso_timestamp(seconds: float) -> str:
    """In UTC, to the millisecond."""
    milliseconds = int(seconds * 1000)
    return f"{_second(milliseconds // 1000)}.{_FRACTIONS[milliseconds % 1000]}Z"


def known(text: str) -> str | None:
    return None if text == NO_ID else text


def error_name(error: BaseException) -> str:
    return f"{type(error).__name__}{_code_of(error)}"


def error_places(error: BaseException) -> list[str]:
    """Where it was, innermost place first. Not its text, which may hold anything."""
    frames = traceback.extract_tb(error.__traceback__)[::-1]
    # The innermost, and after it our own: what lies between them is a library's.
    told = [frame for frame in frames if frame is frames[0] or _is_ours(frame.filename)]
    return [
        f"{frame.filename.removeprefix(_ROOT)}:{frame.lineno} {frame.name}"
        for frame in told[:_PLACES]
    ]


def log_uncaught() -> None:
    """What nobody caught ends as a record too. Python would print the texts of errors."""

    def of_thread(arguments: Any) -> None:
        log_crash(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)

    sys.excepthook, threading.excepthook = log_crash, of_thread
    logging.captureWarnings(True)


def log_crash(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    if not issubclass(kind, KeyboardInterrupt | SystemExit):
        error = error or kind()
        logging.getLogger("uncaught").critical("Crash", exc_info=(kind, error, trace))


class WithoutPath(logging.Filter):
    """Django ends its messages with the path that was asked for, which may hold anything."""

    def filter(self, record: logging.LogRecord) -> bool:
        path = getattr(getattr(record, "request", None), "path", None)
        if path is not None and isinstance(record.args, tuple):
            record.args = tuple("…" if argument == path else argument for argument in record.args)
        return True


@lru_cache(maxsize=4)
def _second(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def _error_of(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if record.exc_info else None


def _is_ours(file: str) -> bool:
    return file.startswith(_ROOT) and "/site-packages/" not in file


def _code_of(error: BaseException) -> str:
    """What the database calls it: SQLSTATE, or SQLite's name of the error."""
    cause = error.__cause__
    code = getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorname", None)
    return f" ({code})" if code else ""


def _masked(match: re.Match[str]) -> str:
    return f"{match[1] or ''}…"


def _masked_address(match: re.Match[str]) -> str:
    """`j…@shop.example`: which mail server it was about is worth knowing, whose mailbox is not."""
    parts = _AT.split(match[0])
    if len(parts) == 1:
        return match[0]
    first = parts[0][:1] if len(parts[0]) > 1 else ""
    return f"{first}…@{parts[-1]}"


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
