"""Measure 10,000 mailbox checks at 200 scripted mail hosts, at the pace that each of them allows.

Of the hosts, most tell the truth. Some accept everything, some treat a control name in an unclear
way, and some refuse everything with the words for a missing mailbox.
"""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from tests.bench.processes import cpu_seconds
from tests.bench.table import Metric
from tests.servers.books import fetch_number
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import manage
from tests.servers.postgres import postgres_server
from tests.servers.product import ROOT, Product, product
from tests.servers.smtp_server import ACCEPTED, UNKNOWN, SmtpHost, smtp_server
from tests.servers.socks_proxy import socks_proxy

HOSTS, MAILBOXES = 200, 10_000
EACH = MAILBOXES // HOSTS
EXISTING = {f"name{number}": ACCEPTED for number in range(0, EACH, 2)}
# The hosts of each ten, and the reasons of names that exist and of those that don't.
KINDS: dict[str, tuple[int, SmtpHost, str, str]] = {
    "honest": (7, SmtpHost(mailboxes=EXISTING), "mailbox_accepted", "mailbox_not_found"),
    "open": (1, SmtpHost(mailboxes={}, other=ACCEPTED), "accept_all", "accept_all"),
    "unclear": (
        *(1, SmtpHost(mailboxes=EXISTING, other="451 4.3.0 Try later")),
        *("domain_accepts_mail", "server_temporary_error"),
    ),
    "wall": (1, SmtpHost(mailboxes={}, other=UNKNOWN), "server_refused_us", "server_refused_us"),
}
TIME_LIMIT, STARTED_SHARE = 600, 0.1

_START = """
from accounts.engine import get_engine
from accounts.models import Account
from credits.models import Wallet
from engine import as_pending
from validation.charging.settlement import Validation
from validation.probes.assessment import assess
from validation.probes.settlement import start_probe
from validation.request_log.writer import Caller
account = Account.objects.get()
Wallet.objects.filter(account=account).update(balance=1_000_000)
for number in range({each}):
    for host in range({hosts}):
        email = f"name{{number}}@shop{{host}}.com"
        finding = get_engine().check(email)
        caller = Caller(account, None, "bench")
        validation = Validation(caller, email, as_pending(finding), False, 1)
        start_probe(validation, assess(finding, account))
"""
_REASONS = """
from validation.models import Probe
from validation.models import LogEntry
for probe in Probe.objects.exclude(done_at=None):
    print(probe.domain, probe.result_id, probe.reason)
"""
_DONE = "SELECT COUNT(*) FROM validation_probe WHERE done_at IS NOT NULL OR tries > 0"


def measure(print_progress: Callable[[str], None]) -> list[Metric]:
    kinds = [kind for kind, (number, *_) in KINDS.items() for _ in range(number)]
    kind_of = {host: kinds[host % len(kinds)] for host in range(HOSTS)}
    addresses = {host: f"127.11.{host // 250}.{host % 250 + 1}" for host in range(HOSTS)}
    dns = FakeDns()
    with ExitStack() as stack:
        server = stack.enter_context(
            smtp_server({addresses[host]: KINDS[kind_of[host]][1] for host in range(HOSTS)})
        )
        proxy = stack.enter_context(socks_proxy())
        proxy.port = server.port
        for host, address in addresses.items():
            public = f"8.9.{host // 250}.{host % 250 + 1}"
            dns.add_mail_domain(f"shop{host}.com", f"mx.host{host}.com", public)
            proxy.redirects[public] = address
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
        site = stack.enter_context(
            product(
                folder,
                DATABASE_URL=stack.enter_context(postgres_server()).url,
                DNS_RESOLVERS=stack.enter_context(dns_server(dns)),
                PROBE_MAILBOX_CHECKS="on",
                PROBE_DOMAIN="probe.example",
                PROBE_PROXY=proxy.url(),
                PROBE_PROCESSES="0",
            )
        )
        manage(site, "shell", "--no-imports", "-c", _START.format(each=EACH, hosts=HOSTS))
        print_progress("The checks wait.")
        return _ask(site, kind_of)


def _ask(site: Product, kind_of: dict[int, str]) -> list[Metric]:
    started = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "manage.py", "run_probes"], cwd=ROOT, env=site.process_environment
    ) as process:
        memory = psutil.Process(process.pid).memory_info
        try:
            early = 0.0
            while (done := fetch_number(site, _DONE)) < MAILBOXES:
                if not early and done > STARTED_SHARE * MAILBOXES:
                    early = memory().rss / 1e6
                if time.monotonic() - started > TIME_LIMIT:
                    raise TimeoutError
                time.sleep(0.2)
            seconds, late = time.monotonic() - started, memory().rss / 1e6
            cpu = cpu_seconds([process.pid])
        finally:
            process.terminate()
    wrong, counts = _compare(site, kind_of)
    return [
        Metric("seconds until all are asked", [seconds]),
        Metric("wrong verdicts", [float(wrong)], at_most=0),
        Metric("found: no such mailbox", [float(counts["mailbox_not_found"])]),
        Metric("found: mailbox accepted", [float(counts["mailbox_accepted"])]),
        Metric("CPU of the process for each check, ms", [1000 * cpu / MAILBOXES]),
        Metric("memory of the process after a tenth, MB", [early]),
        Metric("memory of the process at the end, MB", [late]),
    ]


def _compare(site: Product, kind_of: dict[int, str]) -> tuple[int, Counter[str]]:
    """Return how many definite verdicts are wrong, and the number of each reason."""
    lines = manage(site, "shell", "--no-imports", "-c", _REASONS).splitlines()
    counts: Counter[str] = Counter()
    expected: Counter[tuple[str, str]] = Counter()
    found: Counter[tuple[str, str]] = Counter()
    for line in lines:
        domain, _, reason = line.split()
        kind = kind_of[int(domain.removeprefix("shop").removesuffix(".com"))]
        counts[reason] += 1
        found[kind, reason] += 1
    for kind in kind_of.values():
        _, _, existing, missing = KINDS[kind]
        expected[kind, existing] += len(EXISTING)
        expected[kind, missing] += EACH - len(EXISTING)
    # Checks that are asked again later aren't among the lines.
    return (found - expected).total(), counts
