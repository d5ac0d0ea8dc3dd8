"""The process that asks mail servers, from outside: waiting callers, and its end."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.servers.client import HttpCaller
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import manage
from tests.servers.product import Product, migrated_postgres, product
from tests.servers.smtp_server import ACCEPTED, MAILBOXES, SmtpHost, SmtpServer, smtp_server
from tests.servers.socks_proxy import socks_proxy
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.proof, pytest.mark.timeout(300)]

# The name is in conversation for so long that the process can be killed.
SLOW = (3.0, b"250 2.1.5 OK\r\n")


@dataclass
class Site:
    product: Product
    server: SmtpServer
    caller: HttpCaller

    def check(self, email: str, **fields: object) -> Any:
        body = {"email": email, "check": "mailbox", **fields}
        response = self.caller.call("POST", "/v1/validate", json.dumps(body))
        assert response.status == 200, response.text
        return response.document

    def read(self, result: Any) -> Any:
        return self.caller.get(f"/v1/validations/{result['id']}").document

    def check_and_wait(self, email: str) -> Any:
        """Poll for the result: on a busy machine, the process may only be starting."""
        result = self.check(email, timeout_s=5)
        wait_until(lambda: self.read(result)["smtp"]["state"] == "done", pause=0.5)
        return self.read(result)

    def process(self) -> psutil.Process | None:
        for child in psutil.Process(self.product.process.pid).children():
            # One that was killed stays a zombie until the supervisor looks.
            with suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
                if "run_probes" in child.cmdline():
                    return child
        return None


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    dns = FakeDns()
    dns.add_mail_domain("shop.com", "mx.shop.com", "8.8.4.1")
    with ExitStack() as stack:
        host = SmtpHost(mailboxes={**MAILBOXES, "slow": SLOW, "known": ACCEPTED})
        server = stack.enter_context(smtp_server({"127.0.9.1": host}))
        proxy = stack.enter_context(socks_proxy())
        proxy.port, proxy.redirects = server.port, {"8.8.4.1": "127.0.9.1"}
        options = {}
        if request.param == "postgresql":
            options["DATABASE_URL"] = stack.enter_context(migrated_postgres())
        running = stack.enter_context(
            product(
                tmp_path,
                DNS_RESOLVERS=stack.enter_context(dns_server(dns)),
                PROBE_MAILBOX_CHECKS="on",
                PROBE_DOMAIN="probe.example",
                PROBE_PROXY=proxy.url(),
                **options,
            )
        )
        yield Site(running, server, HttpCaller(running, running.owner_key()))


def test_result_is_what_the_mail_server_says(site: Site) -> None:
    accepted = site.check_and_wait("jane@shop.com")
    assert (accepted["reason"], accepted["credits"]["charged"]) == ("mailbox_accepted", 2)
    missing = site.check_and_wait("nobody-here@shop.com")
    assert (missing["reason"], missing["smtp"]["code"]) == ("mailbox_not_found", 550)
    assert manage(site.product, "check_books").endswith("agree.")
    assert "nobody-here" not in site.product.output()


def test_process_finishes_its_conversations_when_it_is_stopped(site: Site) -> None:
    pending = site.check("slow@shop.com", timeout_s=1)
    wait_until(lambda: site.server.verbs["RCPT"])
    process = site.process()
    assert process is not None
    process.terminate()
    wait_until(lambda: site.read(pending)["smtp"]["state"] == "done", pause=0.5)
    assert site.read(pending)["reason"] == "mailbox_accepted"
