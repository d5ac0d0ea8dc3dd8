"""Connect to mail servers at addresses that were checked, never by name."""

import ipaddress
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from engine.dns.networks import is_public
from engine.smtp.session import Conversation, MailboxQuestion, talk
from engine.smtp.socks import ProxyFailed
from engine.smtp.wire import LIMITS, SmtpLimits, SmtpOutcome, Wire

_MAX_HOSTS = 2
_MAX_ADDRESSES_PER_HOST = 2

# Connects to an address and port within seconds. Raises OSError or ProxyFailed.
Dialer = Callable[[str, int, float], socket.socket]


class MailTarget(NamedTuple):
    host: str
    address: str


class HostAnswer(NamedTuple):
    conversation: Conversation
    # The last one tried. None: the hosts have no address.
    target: MailTarget | None = None


def find_targets(
    hosts: Sequence[str],
    find_addresses: Callable[[str], frozenset[str] | None],
    *,
    is_allowed: Callable[[str], bool] = is_public,
) -> Iterator[MailTarget]:
    """Yield hosts, in MX order, with addresses to connect to. A host is resolved when needed."""
    for host in hosts[:_MAX_HOSTS]:
        allowed = [address for address in find_addresses(host) or () if is_allowed(address)]
        # IPv4 first: servers trust its reputation more, and every network has it.
        allowed.sort(key=lambda address: (":" in address, address))
        yield from (MailTarget(host, address) for address in allowed[:_MAX_ADDRESSES_PER_HOST])


def connect_directly(address: str, port: int, seconds: float, *, source: str = "") -> socket.socket:
    """Connect from a local address, if any is given."""
    checked = ipaddress.ip_address(address)
    sock = socket.socket(socket.AF_INET if checked.version == 4 else socket.AF_INET6)
    try:
        sock.settimeout(seconds)
        if source:
            sock.bind((source, 0))
        sock.connect((address, port))
        if ipaddress.ip_address(sock.getpeername()[0]) != checked:
            raise PermissionError("Connected to another address than the one that was checked")
    except BaseException:
        sock.close()
        raise
    return sock


def probe_host(
    targets: Iterable[MailTarget],
    question: MailboxQuestion,
    *,
    dial: Dialer = connect_directly,
    is_allowed: Callable[[str], bool] = is_public,
    port: int = 25,
    starttls: bool = True,
    limits: SmtpLimits = LIMITS,
    clock: Callable[[], float] = time.monotonic,
) -> HostAnswer:
    """Ask the first target that greets us, once more in clear if TLS fails.

    To try the next host, pass the same iterator again. To ask the same server about another
    recipient, pass `[answer.target]`, and `starttls=answer.conversation.is_encrypted`.
    """
    ends_at = clock() + limits.probe
    answer = HostAnswer(Conversation(outcome=SmtpOutcome.NO_ADDRESS))

    def ask(address: str, starttls: bool) -> Conversation:
        seconds = min(limits.connect, ends_at - clock())
        try:
            if seconds <= 0:
                raise TimeoutError
            with dial(address, port, seconds) as sock:
                wire = Wire(sock, limits, clock, ends_at)
                return talk(wire, question, starttls=starttls)
        except ProxyFailed:
            return Conversation(outcome=SmtpOutcome.PROXY_FAILED)
        except TimeoutError:
            return Conversation(outcome=SmtpOutcome.TIMED_OUT)
        except OSError:
            return Conversation(outcome=SmtpOutcome.UNREACHABLE)

    for target in targets:
        if not is_allowed(target.address):
            continue
        conversation = ask(target.address, starttls)
        if conversation.outcome == SmtpOutcome.TLS_FAILED:
            conversation = ask(target.address, starttls=False)
        answer = HostAnswer(conversation, target)
        if (
            conversation.steps
            or conversation.outcome == SmtpOutcome.PROXY_FAILED
            or clock() >= ends_at
        ):
            break
    return answer
