"""A DNS server on loopback, over UDP and TCP, that serves scripted records and counts queries.

Names without scripted records don't exist.
"""

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

from tests.servers.redis import free_port

# How often servers check whether to stop. Short, because hundreds of tests wait for it.
POLL_SECONDS = 0.01

# Names that every honest resolver confirms. The engine queries them to detect lying resolvers.
PROBE_NAMES = frozenset(
    {
        *("com", "net", "org", "gmail.com", "outlook.com", "hotmail.com", "yahoo.com"),
        *("icloud.com", "aol.com", "gmx.net", "qq.com"),
    }
)

# Builds the reply to a query; None means no reply.
Behavior = Callable[[dns.message.Message], "dns.message.Message | bytes | None"]


@dataclass
class FakeDns:
    """Zone data and behavior of the server.

    Add records as in `records["shop.com", "MX"] = ["10 mx.shop.com."]`.
    """

    records: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    behaviors: dict[tuple[str, str], Behavior] = field(default_factory=dict)
    # The behavior for all names below a zone.
    zone_behaviors: dict[str, Behavior] = field(default_factory=dict)
    # The behavior for all other queries. Records apply only if this is None.
    default_behavior: Behavior | None = None
    delay: float = 0.0
    ttl: int = 300
    # Whether negative replies include an SOA record.
    has_soa: bool = True
    # Names that exist without records. A resolver that denies a sentinel is lying.
    existing_names: frozenset[str] = PROBE_NAMES
    # The number of all messages received over UDP and TCP.
    messages: int = 0
    # The engine's queries that detect a lying resolver. They aren't counted in `queries`.
    probes: Counter[tuple[str, str]] = field(default_factory=Counter)
    queries: Counter[tuple[str, str]] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add_records(self, name: str, **records: str | Sequence[str]) -> None:
        for kind, texts in records.items():
            self.records[name, kind] = [texts] if isinstance(texts, str) else list(texts)

    def add_mail_domain(self, domain: str, host: str = "", address: str = "8.8.4.4") -> None:
        host = host or f"mx.{domain}"
        self.add_records(domain, MX=f"10 {host}.")
        self.add_records(host, A=address)

    def set_behavior(self, name: str, kind: str, behavior: Behavior) -> None:
        self.behaviors[name, kind] = behavior

    def _find_zone_behavior(self, name: str) -> Behavior | None:
        zones = (zone for zone in self.zone_behaviors if name.endswith(f".{zone}"))
        return next((self.zone_behaviors[zone] for zone in zones), None)

    def answer(self, wire: bytes, *, tcp: bool = False) -> bytes | None:
        query = dns.message.from_wire(wire)
        question = query.question[0]
        key = (
            question.name.to_text(omit_final_dot=True).lower(),
            dns.rdatatype.to_text(question.rdtype),
        )
        with self._lock:
            self.messages += 1
            is_probe = key[0] in PROBE_NAMES or key[0].endswith(".invalid")
            if is_probe or not tcp:
                (self.probes if is_probe else self.queries)[key] += 1
            self.times.append(time.monotonic())
        behavior = (
            self.behaviors.get(key) or self._find_zone_behavior(key[0]) or self.default_behavior
        )
        if behavior is not None and not tcp:
            reply = behavior(query)
            return reply.to_wire() if isinstance(reply, dns.message.Message) else reply
        message = self.build_reply(query, *key)
        try:
            return message.to_wire(max_size=65535 if tcp else 1232)
        except dns.exception.TooBig:
            return truncated(query).to_wire()

    def build_reply(self, query: dns.message.Message, name: str, kind: str) -> dns.message.Message:
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
        scripted = any(owner == name or owner.endswith(f".{name}") for owner, _ in self.records)
        if not scripted and name not in self.existing_names:
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


def reply_with_code(code: dns.rcode.Rcode) -> Behavior:
    def behavior(query: dns.message.Message) -> dns.message.Message:
        message = dns.message.make_response(query)
        message.set_rcode(code)
        return message

    return behavior


def silence(query: dns.message.Message) -> None:
    return None


def truncated(query: dns.message.Message) -> dns.message.Message:
    message = dns.message.make_response(query)
    message.flags |= dns.flags.TC
    return message


def alias_to(target: str) -> Behavior:
    """Return a behavior that makes every name an alias, without the records of the target."""

    def behavior(query: dns.message.Message) -> dns.message.Message:
        name = query.question[0].name
        message = dns.message.make_response(query)
        alias = target.format(name=name)
        message.answer.append(dns.rrset.from_text(name, 60, "IN", "CNAME", alias))
        return message

    return behavior


def wildcard(**records: str) -> Behavior:
    """Return a behavior that invents these records for every name."""

    def behavior(query: dns.message.Message) -> dns.message.Message:
        name, kind = query.question[0].name, dns.rdatatype.to_text(query.question[0].rdtype)
        message = dns.message.make_response(query)
        if kind in records:
            message.answer.append(dns.rrset.from_text(name, 60, "IN", kind, records[kind]))
        return message

    return behavior


# Every name is an alias of a longer one.
endless_cname_chain = alias_to("x{name}")
servfail, refused = reply_with_code(dns.rcode.SERVFAIL), reply_with_code(dns.rcode.REFUSED)


@contextmanager
def packet_server(respond: Callable[[bytes], Iterable[bytes]]) -> Iterator[str]:
    """Start a UDP server that sends the packets that `respond` returns for each packet received."""
    stopped = threading.Event()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        # Some tests also listen on this port over TCP. Another socket may have it for UDP.
        while not udp.getsockname()[1]:
            with suppress(OSError):
                udp.bind(("127.0.0.1", free_port()))
        udp.settimeout(POLL_SECONDS)

        def serve() -> None:
            while not stopped.is_set():
                with suppress(TimeoutError):
                    wire, sender = udp.recvfrom(512)
                    for packet in respond(wire):
                        _send(udp, sender, packet)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{udp.getsockname()[1]}"
        finally:
            stopped.set()
            thread.join()


@contextmanager
def serving(*servers: socketserver.BaseServer) -> Iterator[None]:
    """Serve in threads as long as the context lasts."""
    threads = [
        threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True)
        for server in servers
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for server in servers:
            server.shutdown()
        for thread in threads:
            thread.join()


@contextmanager
def dns_server(fake_dns: FakeDns) -> Iterator[str]:
    """Start the server and yield its address in the format of DNS_RESOLVERS."""
    with _servers(fake_dns) as (udp, tcp), serving(udp, tcp):
        yield f"127.0.0.1:{udp.socket.getsockname()[1]}"


@contextmanager
def _servers(fake_dns: FakeDns) -> Iterator[tuple["_Udp", "_Tcp"]]:
    """Bind UDP and TCP to the same port."""

    class Udp(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            wire, sender = self.request
            reply = fake_dns.answer(wire)
            if fake_dns.delay:
                timer = threading.Timer(fake_dns.delay, _send, (sender, self.client_address, reply))
                timer.daemon = True
                timer.start()
            else:
                _send(sender, self.client_address, reply)

    class Tcp(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(ConnectionError, struct.error):
                length = struct.unpack("!H", self.request.recv(2))[0]
                reply = fake_dns.answer(self.request.recv(length), tcp=True)
                if reply is not None:
                    self.request.sendall(struct.pack("!H", len(reply)) + reply)

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


def _send(sender: socket.socket, to: tuple[str, int], reply: bytes | None) -> None:
    if reply is not None:
        with suppress(OSError):
            sender.sendto(reply, to)
