"""Ask scripted mail servers on loopback."""

import socket
import time
from collections.abc import Callable

from engine.smtp.connect import HostAnswer, MailTarget, connect_directly, probe_host
from engine.smtp.session import Conversation, MailboxQuestion, talk
from engine.smtp.wire import SmtpLimits, Wire
from tests.servers.smtp_server import SmtpServer

EHLO_NAME, SENDER = "probe.example", "probe@probe.example"
# A busy machine may pause for seconds.
PATIENT = SmtpLimits(connect=30, banner=30, command=30, probe=60)
HERE = MailTarget("mx.shop.example", "127.0.0.1")


def question(
    recipient: str = "jane@shop.example",
    next_recipient: Callable[[bytes], str | None] = lambda reply: None,
) -> MailboxQuestion:
    return MailboxQuestion(EHLO_NAME, SENDER, recipient, next_recipient)


class ImpatientClock:
    """Runs out soon after a command was sent, so that tests of timeouts need no short limits."""

    def __init__(self, command: bytes) -> None:
        self._command = command
        self._skipped = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self._skipped

    def dial(self, address: str, port: int, seconds: float) -> socket.socket:
        return _WatchedSocket(connect_directly(address, port, seconds), self._notice)

    def _notice(self, data: bytes) -> None:
        if data.startswith(self._command):
            self._skipped += PATIENT.command - 0.2


class _WatchedSocket(socket.socket):
    def __init__(self, sock: socket.socket, on_sent: Callable[[bytes], None]) -> None:
        super().__init__(fileno=sock.detach())
        self._on_sent = on_sent

    def sendall(self, data: bytes, flags: int = 0) -> None:  # type: ignore[override]
        super().sendall(data, flags)
        self._on_sent(data)


def ask(
    server: SmtpServer,
    local_part: str = "jane",
    *,
    limits: SmtpLimits = PATIENT,
    impatient_after: bytes = b"nothing",
    next_recipient: Callable[[bytes], str | None] = lambda reply: None,
) -> Conversation:
    """Hold one conversation, which isn't repeated in clear."""
    asked = question(f"{local_part}@shop.example", next_recipient)
    clock = ImpatientClock(impatient_after)
    with clock.dial("127.0.0.1", server.port, limits.connect) as sock:
        return converse(sock, asked, limits=limits, clock=clock)


def converse(
    sock: socket.socket,
    asked: MailboxQuestion | None = None,
    *,
    limits: SmtpLimits = PATIENT,
    clock: Callable[[], float] = time.monotonic,
) -> Conversation:
    return talk(Wire(sock, limits, clock, clock() + limits.probe), asked or question())


def probe(
    server: SmtpServer,
    *targets: MailTarget,
    limits: SmtpLimits = PATIENT,
    impatient_after: bytes = b"nothing",
) -> HostAnswer:
    clock = ImpatientClock(impatient_after)
    return probe_host(
        targets or (HERE,),
        question(),
        dial=clock.dial,
        is_allowed=lambda address: True,
        port=server.port,
        limits=limits,
        clock=clock,
    )
