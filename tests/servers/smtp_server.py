"""A scripted SMTP server on loopback: each of its addresses is a host, each local part a script.

One thread serves all hosts, so 200 of them and 10,000 mailboxes cost little.
"""

import asyncio
import datetime
import errno
import functools
import ssl
import tempfile
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import NamedTuple
from weakref import WeakSet

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

# A line; bytes as they are; or parts: numbers are seconds to wait, None closes the connection.
Reply = str | bytes | Iterable[bytes | float | None]


@dataclass
class Session:
    recipients: list[str] = field(default_factory=list)
    is_encrypted: bool = False


# A reply, or a function that chooses one.
Script = Reply | Callable[[Session], "Script"]

ACCEPTED = "250 2.1.5 OK"
UNKNOWN = "550 5.1.1 User unknown"
SILENCE: Script = (3600.0,)
DROP: Script = (None,)


def one_byte_at_a_time(line: str, seconds: float) -> Script:
    return [part for byte in f"{line}\r\n".encode() for part in (bytes((byte,)), seconds)]


def without_end(line: str = "250-More follows") -> Script:
    return repeat(f"{line}\r\n".encode())


def only_first_recipient(first: Script = ACCEPTED) -> Script:
    """Accept one recipient per session, as Microsoft does for senders that it doesn't know."""
    return lambda session: (
        first if len(session.recipients) == 1 else "452 4.5.3 Too many recipients"
    )


# What servers say about a recipient. Tests add the scripts that need a clock or seconds.
MAILBOXES: Mapping[str, Script] = {
    "jane": ACCEPTED,
    "postmaster": ACCEPTED,
    "forwarded": "251 2.1.5 User not local; will forward",
    "cannot-verify": "252 2.1.5 Cannot verify the user",
    **{
        f"refused-{code}": f"{code} Refused"
        for code in (421, 450, 451, 452, 500, 501, 503, 521, 550, 551, 552, 553, 554, 556)
    },
    "unknown": UNKNOWN,
    "soft-unknown": "450 4.1.1 User unknown",
    "full": "552 5.2.2 Mailbox full",
    "disabled": "550 5.2.1 The account that you tried to reach is disabled",
    "busy": "550 5.2.1 The user is receiving mail at a rate that prevents additional messages",
    "policy": "550 5.7.1 Message rejected due to policy",
    "edge-blocked": "550 5.4.1 Recipient address rejected: Access denied",
    "shutdown": (b"421 4.3.2 Closing\r\n", None),
    "drop": DROP,
    "silence": SILENCE,
    "huge": b"550 " + b"x" * 10_000_000 + b"\r\n",
    "without-end": without_end(),
    "multi-line": b"550-5.1.1 The account\r\n550 5.1.1 doesn't exist\r\n",
    "two-codes": b"250-Fine\r\n550 5.1.1 User unknown\r\n",
    "two-replies": b"250 2.1.5 OK\r\n550 5.1.1 User unknown\r\n",
    "control-characters": b"550 5.1.1 \x00\x1b[31mred\x1b[0m\rforged\xff\r\n",
    "bare-lf": (b"550 5.1.1 User unknown\n",),
    "no-code": b"\xff\xfe nonsense\r\n",
}


@dataclass
class SmtpHost:
    """What one address does. A recipient without a script in `mailboxes` gets `other`."""

    banner: Script = "220 mx.shop.example ESMTP"
    ehlo: Script = "250 mx.shop.example"
    # Offered after EHLO. STARTTLS is no longer offered once the session is encrypted.
    extensions: Sequence[str] = ("PIPELINING", "SMTPUTF8")
    helo: Script = "250 mx.shop.example"
    starttls: Script = "220 2.0.0 Go ahead"
    # Sent instead of the TLS handshake.
    instead_of_tls: Script | None = None
    mail: Script = "250 2.1.0 OK"
    mailboxes: Mapping[str, Script] = field(default_factory=lambda: MAILBOXES)
    other: Script = UNKNOWN


class Command(NamedTuple):
    host: str
    line: str
    is_encrypted: bool


@dataclass
class SmtpServer:
    """A running server. `hosts` may be changed between sessions."""

    hosts: dict[str, SmtpHost]
    port: int = 0
    # The latest only, so that a benchmark's memory stays flat. `verbs` counts them all.
    commands: deque[Command] = field(default_factory=lambda: deque(maxlen=1000))
    verbs: Counter[str] = field(default_factory=Counter)
    connections: Counter[str] = field(default_factory=Counter)
    open_connections: Counter[str] = field(default_factory=Counter)
    most_open: Counter[str] = field(default_factory=Counter)
    _listeners: list[asyncio.Server] = field(default_factory=list)
    # The loop keeps only weak references to tasks.
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _transports: WeakSet[asyncio.WriteTransport] = field(default_factory=WeakSet)

    def lines(self) -> list[str]:
        return [command.line for command in self.commands]

    async def listen(self) -> None:
        while not self.port:
            try:
                for address in self.hosts:
                    listener = await asyncio.start_server(self._start, address, self.port)
                    self._listeners.append(listener)
                    self.port = listener.sockets[0].getsockname()[1]
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                # Another process has the port at one of the addresses.
                self.port = 0
                for listener in self._listeners:
                    listener.close()
                self._listeners.clear()

    async def close(self) -> None:
        for listener in self._listeners:
            listener.close()
        self._listeners.clear()
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for transport in list(self._transports):
            transport.abort()
        # They close in the loop's next turn.
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    def _start(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Python 3.11 logs errors about canceled tasks that it has started.
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._transports.add(writer.transport)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = writer.get_extra_info("sockname")[0]
        self.connections[address] += 1
        self.open_connections[address] += 1
        self.most_open[address] = max(self.most_open[address], self.open_connections[address])
        try:
            await self._converse(self.hosts[address], address, reader, writer)
        except (OSError, ValueError):
            # Disconnected, or received a line that is too long.
            pass
        finally:
            self.open_connections[address] -= 1
            writer.close()

    async def _converse(
        self,
        host: SmtpHost,
        address: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        session = Session()
        await _send(writer, host.banner, session)
        while line := (await reader.readline()).decode("utf-8", "replace").rstrip("\r\n"):
            verb, _, argument = line.partition(" ")
            self.commands.append(Command(address, line, session.is_encrypted))
            self.verbs[verb] += 1
            if verb == "QUIT":
                return
            await _send(writer, self._choose(host, verb, argument, session), session)
            if verb == "STARTTLS" and host.instead_of_tls is not None:
                await _send(writer, host.instead_of_tls, session)
                await reader.read()
                return
            if verb == "STARTTLS" and str(host.starttls).startswith("220"):
                await writer.start_tls(_tls_context(), ssl_handshake_timeout=30)
                session.is_encrypted = True

    def _choose(self, host: SmtpHost, verb: str, argument: str, session: Session) -> Script:
        path = argument.partition("<")[2].rpartition(">")[0]
        if verb == "EHLO" and isinstance(host.ehlo, str) and host.ehlo.startswith("250"):
            offered = [
                name for name in host.extensions if name != "STARTTLS" or not session.is_encrypted
            ]
            lines = [host.ehlo[4:], *offered]
            return (
                *(f"250-{text}\r\n".encode() for text in lines[:-1]),
                f"250 {lines[-1]}\r\n".encode(),
            )
        if verb == "RCPT":
            session.recipients.append(path)
            return host.mailboxes.get(path.rpartition("@")[0], host.other)
        scripts = {"EHLO": host.ehlo, "HELO": host.helo, "MAIL": host.mail}
        return {**scripts, "STARTTLS": host.starttls}.get(verb, "502 5.5.1 Not implemented")


async def _send(writer: asyncio.StreamWriter, script: Script, session: Session) -> None:
    while callable(script):
        script = script(session)
    if isinstance(script, str):
        script = f"{script}\r\n".encode()
    for part in (script,) if isinstance(script, bytes) else script:
        if part is None or writer.transport.is_closing():
            raise ConnectionAbortedError
        if isinstance(part, bytes):
            writer.write(part)
            await writer.drain()
            # Endless replies leave time to notice that the client is gone.
            await asyncio.sleep(0)
        else:
            await asyncio.sleep(part)


@functools.cache
def _tls_context() -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "other.example")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=2))
        # Expired, as many are.
        .not_valid_after(now - datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "certificate.pem")
        file.write_bytes(
            key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
            + certificate.public_bytes(pem)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
    return context


@contextmanager
def smtp_server(hosts: Mapping[str, SmtpHost] | None = None) -> Iterator[SmtpServer]:
    """Serve hosts by their addresses, such as 127.0.3.1 or ::1, all on the same free port."""
    server = SmtpServer(dict(hosts or {"127.0.0.1": SmtpHost()}))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.listen(), loop).result()
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
