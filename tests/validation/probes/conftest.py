from collections.abc import Iterator
from dataclasses import dataclass
from unittest.mock import patch

import pytest
from pytest_django import Settings

from tests.servers.dns import FakeDns
from tests.servers.smtp_server import ACCEPTED, SmtpHost, SmtpServer, smtp_server
from tests.servers.socks_proxy import SocksProxy, socks_proxy
from tests.support.engine_dns import fake_dns, patient_dns
from validation.models import MailHostPace, Probe
from validation.probes import waiting
from validation.probes.egress import egresses
from validation.probes.queue import ProbeQueue

__all__ = ["fake_dns", "patient_dns"]

GREYLISTED = "450 4.2.0 Greylisted, try again later"


@dataclass
class MailServers:
    """Mail hosts at public addresses, which a proxy connects to a server on loopback."""

    dns: FakeDns
    server: SmtpServer
    proxy: SocksProxy

    def add_host(self, domain: str, host: SmtpHost, name: str = "") -> SmtpHost:
        """Let a host, `mx.<domain>` if it has no other name, receive a domain's mail."""
        number = len(self.proxy.redirects) + 1
        self.dns.add_mail_domain(domain, name, f"8.8.4.{number}")
        self.proxy.redirects[f"8.8.4.{number}"] = f"127.0.9.{number}"
        self.server.hosts[f"127.0.9.{number}"] = host
        return host

    def hosts(self) -> list[SmtpHost]:
        return list(self.server.hosts.values())


@pytest.fixture
def mail(settings: Settings, patient_dns: FakeDns) -> Iterator[MailServers]:
    """Mailbox checks are on. shop.com has the server's mailboxes, catchall.com accepts all."""
    addresses = {f"127.0.9.{number}": SmtpHost() for number in range(1, 7)}
    with smtp_server(addresses) as server, socks_proxy() as proxy:
        proxy.port = server.port
        settings.PROBE_MAILBOX_CHECKS = True
        settings.PROBE_DOMAIN, settings.PROBE_SENDER = "probe.example", "probe@probe.example"
        settings.PROBE_PROXY = [proxy.url()]
        egresses.cache_clear()
        servers = MailServers(patient_dns, server, proxy)
        servers.add_host("shop.com", SmtpHost())
        servers.add_host("catchall.com", SmtpHost(other=ACCEPTED))
        servers.add_host("grey.com", SmtpHost(mailboxes={}, other=GREYLISTED))
        yield servers
    egresses.cache_clear()


@pytest.fixture
def pending_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no call wait for an answer: no process asks for one before the test calls `run_queue`."""
    monkeypatch.setattr(waiting, "MAX_WAITING", 0)


def run_queue() -> None:
    """Ask about everything that is due, and store the answers. Pauses are skipped."""
    queue = ProbeQueue()
    # An answer resets the rate, after which a turn would wait a second for its next conversation.
    with patch.object(MailHostPace, "START_RATE", 1_000.0):
        while Probe.objects.due().exists() or Probe.objects.in_vain().exists() or queue.turns:
            MailHostPace.objects.update(rate=1_000)
            if not queue.step(is_stopping=False):
                queue.wait(0.05)
            MailHostPace.objects.wake_due()
            is_idle = not (queue.turns or MailHostPace.objects.due().exists())
            if is_idle and not Probe.objects.in_vain().exists():
                break
