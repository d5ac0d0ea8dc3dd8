"""Check many addresses with one deadline and one lookup per domain.

findings = check_all(engine, emails, seconds=4, lookups=8)
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from validation.engine.check import Engine, LookupLimit
from validation.engine.findings import DomainInfo
from validation.engine.verdict import Finding


def check_all(
    engine: Engine,
    emails: Sequence[str],
    *,
    seconds: float,
    share: threading.Semaphore,
    limit: LookupLimit | None = None,
) -> list[Finding]:
    """Return a finding for each address, in order. What isn't known in time is `unknown`.

    `share` limits how many lookups the caller may have in progress, in this batch and in others.
    """
    ends_at = time.monotonic() + seconds
    found: dict[str, DomainInfo] = {}
    waiting = _first_by_domain(engine, emails)
    missing: set[str] = set()
    if waiting:
        engine.prepare_to_wait()
        look_up = _bounded(engine, share, ends_at, limit, found)
        _run_until(ends_at, look_up, waiting.values())
        missing = {domain for domain in waiting if domain not in found}
    return [_check_now(engine, email, limit, found, missing) for email in emails]


def _first_by_domain(engine: Engine, emails: Iterable[str]) -> dict[str, str]:
    """Return the domains to look up, each with the first address that has it."""
    first: dict[str, str] = {}
    for email in emails:
        domain = engine.domain_to_look_up(email)
        if domain is not None:
            first.setdefault(domain, email)
    return first


def _bounded(
    engine: Engine,
    share: threading.Semaphore,
    ends_at: float,
    limit: LookupLimit | None,
    found: dict[str, DomainInfo],
) -> Callable[[str], None]:
    def look_up(email: str) -> None:
        if share.acquire(timeout=max(0.0, ends_at - time.monotonic())):
            try:
                engine.check(email, limit, found)
            finally:
                share.release()
                engine.after_thread()

    return look_up


def _run_until(ends_at: float, look_up: Callable[[str], None], emails: Iterable[str]) -> None:
    """Look up the addresses in threads, and return at the deadline at the latest.

    Threads that are still waiting for the DNS then end on their own, within the resolver's timeout.
    """
    emails = list(emails)
    pool = ThreadPoolExecutor(len(emails), thread_name_prefix="batch")
    try:
        wait([pool.submit(look_up, email) for email in emails], ends_at - time.monotonic())
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _check_now(
    engine: Engine,
    email: str,
    limit: LookupLimit | None,
    found: dict[str, DomainInfo],
    missing: set[str],
) -> Finding:
    if missing and engine.domain_to_look_up(email) in missing:
        return engine.check_after_timeout(email)
    return engine.check(email, limit, found)
