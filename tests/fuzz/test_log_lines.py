"""Any log record is formatted as one printable line without an API key."""

import logging
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from apikeys.crypto import ALPHABET, PREFIX, checksum
from runtime.logging.formatters import LineFormatter
from tests.fuzz.exploration import explore
from tests.fuzz.texts import texts

# A fragment of this length is harmless: pages show eight characters of a key.
HARMLESS_LENGTH = 8
bodies = st.text(st.sampled_from(ALPHABET), min_size=32, max_size=32)
prefixes = st.sampled_from(
    ["svc_live_", "SVC_LIVE_", "Svc-Live-", "svc live ", "svclive", "svc_live", "", "Bearer "]
)
# Characters next to a key, except those that would make it a different key.
around = st.one_of(
    texts, st.sampled_from(["/v1/", "?key=", "'", '"', "\\", "%", "=", ":", "\0", "é", "{", "b'"])
)


def format_record(message: Any, *arguments: Any, error: BaseException | None = None) -> str:
    info = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("any", logging.INFO, __file__, 1, message, arguments, info)
    return LineFormatter("%(levelname)s %(name)s [%(request_id)s] %(message)s").format(record)


def assert_one_line(line: str) -> None:
    assert len(line.splitlines()) == 1
    line.encode()
    assert "\x1b" not in line


def make_error(text: str, depth: int) -> BaseException:
    try:
        if depth:
            raise KeyError(text) from make_error(text, depth - 1)
        raise ValueError(text)
    except (KeyError, ValueError) as error:
        return error


def test_no_log_record_contains_a_key() -> None:
    def any_key(prefix: str, body: str, before: str, after: str) -> None:
        secret = body + checksum(PREFIX + body)
        # The surrounding text may happen to contain a fragment of the key.
        assume(not _fragments(secret) & _fragments(before + after))
        text = f"{before}{prefix}{secret}{after}"
        for line in (
            format_record(text),
            format_record("%s %s %s", "GET", f"/v1/{text}", 404),
            format_record("%r", {"Authorization": text}),
            format_record("Crash", error=make_error(text, 1)),
        ):
            assert_one_line(line)
            assert not _fragments(secret) & _fragments(line)

    explore(any_key, quick=60, prefix=prefixes, body=bodies, before=around, after=around)


def _fragments(text: str) -> set[str]:
    return {
        text[start : start + HARMLESS_LENGTH + 1] for start in range(len(text) - HARMLESS_LENGTH)
    }
