"""Check many addresses with one deadline and one lookup per domain.

findings = check_all(engine, emails, seconds=4, share=LookupShare(8))
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext

from validation.engine.check import Engine, LookupLimit
from validation.engine.dns.transport.event_loop import going_on_after
from validation.engine.syntax.parsing import AddressParts, SyntaxProblem, parse_address
from validation.engine.verdicts.decision import DomainInfo
from validation.engine.verdicts.finding import Finding


class LookupShare:
    """Limits the lookups that a caller has in progress, in all of their batches together."""

    def __init__(self, lookups: int) -> None:
        self.lookups = lookups
        self._slots = threading.Semaphore(lookups)

    @contextmanager
    def acquire(self, ends_at: float) -> Iterator[bool]:
        """Hold a slot. Yield False if none became free in time."""
        is_acquired = self._slots.acquire(timeout=_seconds_until(ends_at))
        try:
            yield is_acquired
        finally:
            if is_acquired:
                self._slots.release()


def _seconds_until(moment: float) -> float:
    return max(0.0, moment - time.monotonic())


def check_all(
    engine: Engine,
    emails: Sequence[str],
    *,
    seconds: float,
    share: LookupShare,
    limit: LookupLimit | None = None,
    turn: Callable[[], AbstractContextManager[None]] = nullcontext,
    pause: Callable[[], None] = lambda: None,
    wait_in_line: Callable[[], None] = lambda: None,
) -> list[Finding]:
    """Return a finding for each address, in order. What isn't known in time is `unknown`.

    `turn` is entered to compute for long, and `pause` is called after each check, to let other
    requests run. Lookups call `wait_in_line` before they start, and each time that replies have
    arrived.
    """
    ends_at = time.monotonic() + seconds
    found: dict[str, DomainInfo] = {}
    addresses = [(email, parse_address(email)) for email in emails]
    waiting = _first_by_domain(engine, addresses)
    missing: set[str] = set()
    if waiting:
        engine.prepare_to_wait()

        def look_up(email: str) -> None:
            with share.acquire(ends_at) as is_acquired:
                if is_acquired:
                    wait_in_line()
                    with going_on_after(wait_in_line):
                        _look_up(engine, email, limit, found)

        _run_until(ends_at, look_up, waiting.values(), share.lookups)
        missing = {domain for domain in waiting if domain not in found}
    with turn():
        findings = []
        for address in addresses:
            findings.append(_check_now(engine, address, limit, found, missing))
            pause()
    return findings


def _first_by_domain(
    engine: Engine, addresses: Iterable[tuple[str, AddressParts | SyntaxProblem]]
) -> dict[str, str]:
    """Return the domains to look up, each with the first address that has it."""
    first: dict[str, str] = {}
    for email, parsed in addresses:
        domain = engine.domain_to_look_up(parsed)
        if domain is not None:
            first.setdefault(domain, email)
    return first


def _look_up(
    engine: Engine, email: str, limit: LookupLimit | None, found: dict[str, DomainInfo]
) -> None:
    try:
        engine.check(email, limit, found)
    finally:
        engine.after_thread()


def _run_until(
    ends_at: float, look_up: Callable[[str], None], emails: Collection[str], threads: int
) -> None:
    """Look up the addresses in threads, and return at the deadline at the latest.

    Threads that are still waiting for the DNS then end on their own, within the resolver's timeout.
    """
    pool = ThreadPoolExecutor(min(threads, len(emails)), thread_name_prefix="batch")
    try:
        wait([pool.submit(look_up, email) for email in emails], _seconds_until(ends_at))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _check_now(
    engine: Engine,
    address: tuple[str, AddressParts | SyntaxProblem],
    limit: LookupLimit | None,
    found: dict[str, DomainInfo],
    missing: set[str],
) -> Finding:
    email, parsed = address
    if missing and engine.domain_to_look_up(parsed) in missing:
        return engine.check_after_timeout(email)
    return engine.check(email, limit, found, parsed)
