"""Send SMTP commands and read their replies within bounds.

smtplib bounds neither a reply's lines nor its total time: each byte extends it. TLS runs on memory
buffers, because under gevent each byte extends a handshake, too.
"""

import re
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class SmtpOutcome(StrEnum):
    REPLIED = "replied"
    DROPPED = "dropped"
    TIMED_OUT = "timed_out"
    TLS_FAILED = "tls_failed"
    TOO_LONG = "too_long"
    # The server sent more than one reply, so it isn't known which one is true.
    UNCLEAR = "unclear"
    NO_SMTPUTF8 = "no_smtputf8"
    UNREACHABLE = "unreachable"
    PROXY_FAILED = "proxy_failed"
    # The hosts have no public address, or it isn't known.
    NO_ADDRESS = "no_address"


class SmtpLimits(NamedTuple):
    """Seconds, and the size of one reply."""

    connect: float = 5
    banner: float = 10
    command: float = 10
    probe: float = 25
    reply_bytes: int = 65_536
    reply_lines: int = 50


LIMITS = SmtpLimits()


class Ended(Exception):
    def __init__(self, outcome: SmtpOutcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class Unsendable(ValueError):
    """An address or name that must not be part of a command."""


# RFC 5321, 4.5.3.1.4, less CRLF.
_COMMAND = re.compile(rb"[^\x00-\x1f\x7f]{1,510}")
_IS_CONTINUED = re.compile(rb"\d{3}-")
_PART_SIZE = 4096


@dataclass
class Wire:
    """Raise Ended or OSError (TimeoutError: too slow) when the conversation can't continue."""

    sock: socket.socket
    limits: SmtpLimits
    clock: Callable[[], float]
    ends_at: float
    _received: bytes = b""
    _tls: ssl.SSLObject | None = None
    _from_server: ssl.MemoryBIO = field(default_factory=ssl.MemoryBIO)
    _to_server: ssl.MemoryBIO = field(default_factory=ssl.MemoryBIO)

    def exchange(self, command: str | None) -> bytes:
        """Return the reply to a command, None: to connecting. Its lines are joined by LF."""
        seconds = self.limits.banner if command is None else self.limits.command
        until = min(self.clock() + seconds, self.ends_at)
        if command is not None:
            line = command.encode()
            if not _COMMAND.fullmatch(line):
                raise Unsendable(command)
            self._refuse_early_bytes()
            self._send(line + b"\r\n", until)
        lines: list[bytes] = []
        size_left = self.limits.reply_bytes
        while not lines or _IS_CONTINUED.match(lines[-1]):
            if len(lines) == self.limits.reply_lines:
                raise Ended(SmtpOutcome.TOO_LONG)
            lines.append(self._read_line(until, size_left))
            size_left -= len(lines[-1])
        if self._received:
            raise Ended(SmtpOutcome.UNCLEAR)
        return b"\n".join(line.removesuffix(b"\r") for line in lines)

    def start_tls(self, context: ssl.SSLContext) -> None:
        until = min(self.clock() + self.limits.command, self.ends_at)
        tls = context.wrap_bio(self._from_server, self._to_server)
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                self._send(b"", until)
                self._from_server.write(self._receive(until))
        self._send(b"", until)
        self._tls = tls

    def quit(self) -> None:
        """Send QUIT without waiting."""
        with suppress(OSError):
            self._send(b"QUIT\r\n", self.clock())

    def _read_line(self, until: float, max_size: int) -> bytes:
        parts = [self._received]
        size = len(self._received)
        while b"\n" not in parts[-1] and size <= max_size:
            parts.append(self._read(until))
            size += len(parts[-1])
            if not parts[-1]:
                # TLS ended.
                raise ConnectionResetError
        line, _, self._received = b"".join(parts).partition(b"\n")
        if len(line) > max_size:
            raise Ended(SmtpOutcome.TOO_LONG)
        return line

    def _refuse_early_bytes(self) -> None:
        with suppress(BlockingIOError):
            self._read(self.ends_at, waits=False)
            raise Ended(SmtpOutcome.UNCLEAR)

    def _read(self, until: float, *, waits: bool = True) -> bytes:
        while self._tls is not None:
            try:
                return self._tls.read(_PART_SIZE)
            except ssl.SSLWantReadError:
                self._from_server.write(self._receive(until, waits=waits))
        return self._receive(until, waits=waits)

    def _receive(self, until: float, *, waits: bool = True) -> bytes:
        remaining = until - self.clock()
        if remaining <= 0:
            raise TimeoutError
        self.sock.settimeout(remaining if waits else 0)
        part = self.sock.recv(_PART_SIZE)
        if not part:
            raise ConnectionResetError
        return part

    def _send(self, data: bytes, until: float) -> None:
        """Send data, and what TLS itself has to send."""
        if self._tls is not None and data:
            self._tls.write(data)
        self.sock.settimeout(max(0, until - self.clock()))
        self.sock.sendall(self._to_server.read() or data)
