"""Format log records without secrets.

Exception messages may contain personal data, so they are left out.
"""

import logging
import re
import sys
import threading
import traceback
from collections.abc import Collection
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

import orjson

NO_ID = "-"
current_request_id: ContextVar[str] = ContextVar("current_request_id", default=NO_ID)
current_account_id: ContextVar[str] = ContextVar("current_account_id", default=NO_ID)

# Links that give access, and API keys, even mistyped or without prefix.
_SECRETS = re.compile(
    r"(/accounts/(?:invitations|password/reset/key)/|/reference/opt-out/|(?i:svc.?live.?))"
    r"[^/\s'\"\\]+|[0-9A-Za-z]{38,}"
)
_values = re.compile(r"(?!)")
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Word by word: one pattern for the text would take quadratic time.
_QUOTED = re.compile(r"\"[^\"]{0,200}\"(?=@|%40)")
_WORD = re.compile(r"[^\s<>()\[\],;:'\"\\/=&?|]+")
_AT = re.compile(r"@|%40|\uff20|\ufe6b")
_MAX_MESSAGE_LENGTH = 2000
_ROOT = f"{Path(__file__).resolve().parents[2]}/"
_MAX_LOCATIONS = 6
_RECORD_FIELDS = {
    *vars(logging.makeLogRecord({})),
    *("message", "asctime", "request_id", "account_id", "server_time", "status_code"),
}


class LineFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        record.request_id, record.account_id = current_request_id.get(), current_account_id.get()
        record.message = redact(record.getMessage())
        record.asctime = self.formatTime(record, self.datefmt)
        line = self.formatMessage(record)
        line += "".join(f" {name}={value}" for name, value in _extra_fields(record).items())
        if error := _get_error(record):
            locations = " < ".join(error_locations(error)) or "an unknown location"
            line += f" | {error_name(error)} at {locations}"
        return _UNPRINTABLE.sub(_escape, line)


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, object] = {
            "time": iso_timestamp(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact(record.getMessage()),
            "request_id": id_or_none(current_request_id.get()),
            "account_id": id_or_none(current_account_id.get()),
            **_extra_fields(record),
        }
        if error := _get_error(record):
            fields |= {"error": error_name(error), "places": error_locations(error)}
        return orjson.dumps(fields).decode()


def mask_values(values: Collection[str]) -> None:
    global _values  # noqa: PLW0603
    longest_first = sorted(values, key=len, reverse=True)
    _values = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")


def mask_secrets(text: str) -> str:
    return _SECRETS.sub(lambda match: f"{match[1] or ''}…", _values.sub("…", text))


def redact(text: str) -> str:
    """Mask secrets and addresses, escape control characters, and limit the length."""
    text = mask_secrets(text[: 10 * _MAX_MESSAGE_LENGTH])
    if _AT.search(text):
        text = _WORD.sub(_mask_address, _QUOTED.sub('"…"', text))
    return _UNPRINTABLE.sub(_escape, text[:_MAX_MESSAGE_LENGTH])


def iso_timestamp(seconds: float) -> str:
    at = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    return f"{at.isoformat(timespec='milliseconds')}Z"


def id_or_none(text: str) -> str | None:
    return None if text == NO_ID else text


def error_name(error: BaseException) -> str:
    cause = error.__cause__
    code = getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorname", None)
    return f"{type(error).__name__} ({code})" if code else type(error).__name__


def error_locations(error: BaseException) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)[::-1]
    shown = [
        frame
        for frame in frames
        if frame is frames[0]
        or (frame.filename.startswith(_ROOT) and "/site-packages/" not in frame.filename)
    ]
    return [
        f"{frame.filename.removeprefix(_ROOT)}:{frame.lineno} {frame.name}"
        for frame in shown[:_MAX_LOCATIONS]
    ]


def log_uncaught() -> None:
    """Log uncaught exceptions without their messages, which Python would print."""

    def log_thread_crash(arguments: threading.ExceptHookArgs) -> None:
        log_crash(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)

    sys.excepthook, threading.excepthook = log_crash, log_thread_crash
    logging.captureWarnings(True)


def log_crash(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    if not issubclass(kind, KeyboardInterrupt | SystemExit):
        error = error or kind()
        logging.getLogger("uncaught").critical("Uncaught exception", exc_info=(kind, error, trace))


class WithoutPath(logging.Filter):
    """Remove the path from Django's messages: clients can put anything into it."""

    def filter(self, record: logging.LogRecord) -> bool:
        path = getattr(getattr(record, "request", None), "path", None)
        if path is not None and isinstance(record.args, tuple):
            record.args = tuple("…" if argument == path else argument for argument in record.args)
        return True


def _extra_fields(record: logging.LogRecord) -> dict[str, object]:
    """Return what the call passed as `extra`, but for Django's objects."""
    return {
        name: redact(value) if isinstance(value, str) else value
        for name, value in vars(record).items()
        if name not in _RECORD_FIELDS and isinstance(value, str | int | float)
    }


def _get_error(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if record.exc_info else None


def _mask_address(match: re.Match[str]) -> str:
    """Mask the local part. The domain helps to debug mail delivery."""
    parts = _AT.split(match[0])
    if len(parts) == 1:
        return match[0]
    first = parts[0][:1] if len(parts[0]) > 1 else ""
    return f"{first}…@{parts[-1]}"


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
