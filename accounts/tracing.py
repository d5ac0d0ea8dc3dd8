"""What stands in every log line: the id of the request at hand, and no secret.

A record is one line whatever it holds, and a crash is the places it went through: the text of a
traceback would carry what the program had in its hands into the log.
"""

import logging
import re
import traceback
from contextvars import ContextVar
from pathlib import Path

request_id: ContextVar[str] = ContextVar("request_id", default="-")

# Links that open something, and keys, also without their prefix or oddly written: a refused request
# is logged with its path. The request's own id is known to be none, and stays whole.
_SECRETS = re.compile(
    r"(/accounts/(?:invitations|password/reset/key)/|(?i:svc.?live.?))[^/\s'\"\\]+"
    r"|[0-9A-Za-z]{38,}"
)
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_ROOT = f"{Path(__file__).resolve().parents[1]}/"
_PLACES = 6


class LineFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        record.request_id = request_id.get()
        record.message = without_secrets(record.getMessage())
        record.asctime = self.formatTime(record, self.datefmt)
        line = self.formatMessage(record)
        if record.exc_info and record.exc_info[1] is not None:
            line += f" | {crash_in_a_line(record.exc_info[1])}"
        return _UNPRINTABLE.sub(_escaped, line)


def without_secrets(text: str) -> str:
    return _SECRETS.sub(_masked, text)


def crash_in_a_line(error: BaseException) -> str:
    """Which error, and where: innermost place first. Not its text, which may hold anything."""
    frames = traceback.extract_tb(error.__traceback__)[::-1]
    # The innermost, and after it our own: what lies between them is a library's.
    told = [frame for frame in frames if frame is frames[0] or _is_ours(frame.filename)]
    places = " < ".join(
        f"{frame.filename.removeprefix(_ROOT)}:{frame.lineno} {frame.name}"
        for frame in told[:_PLACES]
    )
    return f"{type(error).__name__}{_code_of(error)} at {places or 'an unknown place'}"


def _is_ours(file: str) -> bool:
    return file.startswith(_ROOT) and "/site-packages/" not in file


def _code_of(error: BaseException) -> str:
    """What the database calls it: SQLSTATE, or SQLite's name of the error."""
    cause = error.__cause__
    code = getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorname", None)
    return f" ({code})" if code else ""


def _masked(match: re.Match[str]) -> str:
    return f"{match[1] or ''}…"


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
