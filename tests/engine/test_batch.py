"""Many addresses at a time: order, one lookup per domain, and one deadline."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import dns.rcode

from engine.check import Engine
from engine.dns.resolver import Resolver
from engine.dns.slots import LookupSlots
from engine.lookups import LookupShare
from tests.servers.dns import FakeDns, reply_with_code, silence

SECONDS = 5.0


def verdicts(engine: Engine, emails: list[str], *, seconds: float = SECONDS) -> list[str]:
    findings = engine.check_many(emails, seconds=seconds, share=LookupShare(8))
    assert [finding.email for finding in findings] == emails
    return [finding.reason for finding in findings]


def test_batch_gives_the_same_findings_as_single_checks(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_mail_domain("shop.com")
    emails = ["info@shop.com", "jane+a@gmial.com", "jane@localhost", "@", "no-reply@shop.com"]
    findings = patient_engine.check_many(emails, seconds=SECONDS, share=LookupShare(2))
    for email, finding in zip(emails, findings, strict=True):
        assert finding.document() == patient_engine.check(email).document()


def test_domain_is_looked_up_once_even_if_its_result_is_not_cached(
    engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.set_behavior("shop.com", "MX", reply_with_code(dns.rcode.SERVFAIL))
    emails = [f"customer{number}@shop.com" for number in range(20)]
    assert set(verdicts(engine, emails)) == {"dns_failure"}
    assert engine.resolver.counters.lookups == 1


def test_what_is_not_known_at_the_deadline_is_unknown(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com")
    fake_dns.set_behavior("hangs.com", "MX", silence)
    started = time.monotonic()
    assert verdicts(engine, ["jane@shop.com", "jane@hangs.com"], seconds=1) == [
        "domain_accepts_mail",
        "dns_timeout",
    ]
    assert time.monotonic() - started < SECONDS


class WatchedSlots(LookupSlots):
    """Records the highest number of lookups in progress."""

    most = 0

    @contextmanager
    def acquire(self, owner: str, seconds: float) -> Iterator[bool]:
        with super().acquire(owner, seconds) as is_acquired:
            self.most = max(self.most, self.active)
            yield is_acquired


def test_lookups_in_progress_stay_within_the_share(server: str, fake_dns: FakeDns) -> None:
    slots = WatchedSlots()
    engine = Engine(Resolver([server], seconds=SECONDS), slots=slots)
    emails = [f"jane@shop{number}.com" for number in range(12)]
    findings = engine.check_many(emails, seconds=SECONDS, share=LookupShare(3))
    assert {finding.reason for finding in findings} == {"domain_not_found"}
    assert 1 <= slots.most <= 3
