"""A DNS server on loopback, over UDP and TCP, that says what a test scripts, and counts what it is
asked. What is not scripted does not exist."""

import socket
import socketserver
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset

# How long a server that is to stop may take to notice: hundreds of tests wait for it.
NOTICES_SECONDS = 0.01

# The names whose existence every honest resolver confirms, as the engine asks about them.
SENTINELS = frozenset(
    {
        *("com", "net", "org", "gmail.com", "outlook.com", "hotmail.com", "yahoo.com"),
        *("icloud.com", "aol.com", "gmx.net", "qq.com"),
    }
)

# An answer to one question; None is silence.
Behaviour = Callable[[dns.message.Message], "dns.message.Message | bytes | None"]


@dataclass
class World:
    """`records["shop.com", "MX"] = ["10 mx.shop.com."]`; a name without any is no name."""

    records: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    behaviours: dict[tuple[str, str], Behaviour] = field(default_factory=dict)
    # What it does with questions about any name below these.
    below: dict[str, Behaviour] = field(default_factory=dict)
    # What it does with every question that has no behaviour of its own.
    always: Behaviour | None = None
    delay: float = 0.0
    ttl: int = 300
    # Whether what there is not comes with an SOA record.
    has_soa: bool = True
    # Names that exist without any records of their own; a resolver that denies them is lying.
    existing: frozenset[str] = SENTINELS
    # Every message that arrived, over UDP and TCP, whatever it asked.
    messages: int = 0
    # What the engine asks to find out whether the server lies. It is not counted in `asked`.
    probed: Counter[tuple[str, str]] = field(default_factory=Counter)
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    over_tcp: Counter[tuple[str, str]] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def has(self, name: str, **records: str | Sequence[str]) -> None:
        for kind, texts in records.items():
            self.records[name, kind] = [texts] if isinstance(texts, str) else list(texts)

    def takes_mail(self, domain: str, host: str = "", address: str = "8.8.4.4") -> None:
        host = host or f"mx.{domain}"
        self.has(domain, MX=f"10 {host}.")
        self.has(host, A=address)

    def behaves(self, name: str, kind: str, behaviour: Behaviour) -> None:
        self.behaviours[name, kind] = behaviour

    def _below(self, name: str) -> Behaviour | None:
        zones = (zone for zone in self.below if name.endswith(f".{zone}"))
        return next((self.below[zone] for zone in zones), None)

    def answer(self, wire: bytes, *, tcp: bool = False) -> bytes | None:
        query = dns.message.from_wire(wire)
        question = query.question[0]
        asked = (
            question.name.to_text(omit_final_dot=True).lower(),
            dns.rdatatype.to_text(question.rdtype),
        )
        with self._lock:
            self.messages += 1
            is_probe = asked[0] in SENTINELS or asked[0].endswith(".invalid")
            (self.probed if is_probe else self.over_tcp if tcp else self.asked)[asked] += 1
            self.times.append(time.monotonic())
        behaviour = self.behaviours.get(asked) or self._below(asked[0]) or self.always
        if behaviour is not None and not tcp:
            said = behaviour(query)
            return said.to_wire() if isinstance(said, dns.message.Message) else said
        message = self.told(query, *asked)
        try:
            return message.to_wire(max_size=65535 if tcp else 1232)
        except dns.exception.TooBig:
            return truncated(query).to_wire()

    def told(self, query: dns.message.Message, name: str, kind: str) -> dns.message.Message:
        message = dns.message.make_response(query)
        message.flags |= dns.flags.RA
        for _ in range(10):
            if (name, kind) in self.records:
                message.answer.append(self._rrset(name, kind))
                return message
            if (name, "CNAME") not in self.records:
                break
            message.answer.append(self._rrset(name, "CNAME"))
            name = self.records[name, "CNAME"][0].rstrip(".")
        scripted = any(one == name or one.endswith(f".{name}") for one, _ in self.records)
        if not scripted and name not in self.existing:
            message.set_rcode(dns.rcode.NXDOMAIN)
        if self.has_soa:
            zone = ".".join(name.split(".")[-2:]) + "."
            message.authority.append(
                dns.rrset.from_text(
                    zone, self.ttl, "IN", "SOA", f"ns.{zone} admin.{zone} 1 2 3 4 60"
                )
            )
        return message

    def _rrset(self, name: str, kind: str) -> dns.rrset.RRset:
        texts = self.records[name, kind]
        return dns.rrset.from_text(f"{name}.", self.ttl, "IN", kind, *texts)


def with_code(code: dns.rcode.Rcode) -> Behaviour:
    def behave(query: dns.message.Message) -> dns.message.Message:
        message = dns.message.make_response(query)
        message.set_rcode(code)
        return message

    return behave


def silence(query: dns.message.Message) -> None:
    return None


def truncated(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.flags |= dns.flags.TC
    return message


def endless_alias(query: dns.message.Message) -> dns.message.Message:
    """Each name is an alias of a longer one, whose records the answer does not bring along."""
    name = query.question[0].name
    message = dns.message.make_response(query)
    message.answer.append(dns.rrset.from_text(name, 60, "IN", "CNAME", f"x{name}"))
    return message


def inventing(**records: str) -> Behaviour:
    """A record of each of these types for every name that is asked for."""

    def behave(query: dns.message.Message) -> dns.message.Message:
        name, kind = query.question[0].name, dns.rdatatype.to_text(query.question[0].rdtype)
        message = dns.message.make_response(query)
        if kind in records:
            message.answer.append(dns.rrset.from_text(name, 60, "IN", kind, records[kind]))
        return message

    return behave


servfail, refused = with_code(dns.rcode.SERVFAIL), with_code(dns.rcode.REFUSED)


@contextmanager
def packets(answer: Callable[[bytes], Iterable[bytes]]) -> Iterator[str]:
    """A server over UDP alone, of whatever packets the function makes of each that comes."""
    stopped = threading.Event()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(NOTICES_SECONDS)

        def serve() -> None:
            while not stopped.is_set():
                with suppress(TimeoutError):
                    wire, sender = udp.recvfrom(512)
                    for packet in answer(wire):
                        _send(udp, sender, packet)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{udp.getsockname()[1]}"
        finally:
            stopped.set()
            thread.join()


@contextmanager
def dns_server(world: World) -> Iterator[str]:
    """Yields its address, as DNS_RESOLVERS has it."""
    with _servers(world) as (udp, tcp):
        threads = [
            threading.Thread(target=server.serve_forever, args=(NOTICES_SECONDS,), daemon=True)
            for server in (udp, tcp)
        ]
        for thread in threads:
            thread.start()
        try:
            yield f"127.0.0.1:{udp.socket.getsockname()[1]}"
        finally:
            for server in (udp, tcp):
                server.shutdown()
            for thread in threads:
                thread.join()


@contextmanager
def _servers(world: World) -> Iterator[tuple["_Udp", "_Tcp"]]:
    """Both on one port."""

    class Udp(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            wire, sender = self.request
            answer = world.answer(wire)
            if world.delay:
                timer = threading.Timer(world.delay, _send, (sender, self.client_address, answer))
                timer.daemon = True
                timer.start()
            else:
                _send(sender, self.client_address, answer)

    class Tcp(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(ConnectionError, struct.error):
                length = struct.unpack("!H", self.request.recv(2))[0]
                answer = world.answer(self.request.recv(length), tcp=True)
                if answer is not None:
                    self.request.sendall(struct.pack("!H", len(answer)) + answer)

    for _ in range(20):
        udp = _Udp(("127.0.0.1", 0), Udp)
        try:
            tcp = _Tcp(udp.server_address, Tcp)
        except OSError:
            udp.server_close()
            continue
        with udp, tcp:
            yield udp, tcp
        return
    raise OSError("No port is free for both UDP and TCP")


class _Udp(socketserver.UDPServer):
    def server_bind(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        super().server_bind()


class _Tcp(socketserver.ThreadingTCPServer):
    daemon_threads = True


def _send(sender: socket.socket, to: tuple[str, int], answer: bytes | None) -> None:
    if answer is not None:
        with suppress(OSError):
            sender.sendto(answer, to)
