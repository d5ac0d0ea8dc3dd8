"""Two app machines, PostgreSQL with a standby, Redis and nginx: operations/three-machines.md."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from tests.servers.books import fetch_number, fetch_rows
from tests.servers.client import HttpCaller, wait_until_ready
from tests.servers.dns import FakeDns, dns_server
from tests.servers.keys import make_key, manage
from tests.servers.postgres_machine import database_url, postgres_machines
from tests.servers.product import Product
from tests.servers.production import ENVIRONMENT
from tests.servers.redis import is_open, redis_server
from tests.servers.reverse_proxy import NAME, ReverseProxy, reverse_proxy
from tests.servers.traffic import Traffic, traffic
from tests.support.waiting import wait_until

SECRETS = ("SECRET_KEY", "API_KEY_PEPPER", "ADDRESS_HASH_KEY")
NETWORK = "127.0.0.0/8"
CREDITS = 1_000_000


class ThreeMachines:
    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._stack, self._folder = stack, folder
        self.primary, self.standby = stack.enter_context(
            postgres_machines("127.0.0.13", "127.0.0.12")
        )
        self.primary.run("replication-role")
        for machine in (self.primary, self.standby):
            machine.run("replication-access", NETWORK=NETWORK)
        self.replicate()
        self.redis = stack.enter_context(redis_server())
        names = FakeDns(delay=0.005)
        for number in range(50):
            names.add_mail_domain(f"shop{number}.com")
        self._environment = {
            **{name: ENVIRONMENT[name] for name in SECRETS},
            "DATABASE_URL": database_url(self.primary, self.standby),
            "REDIS_URL": self.redis.url,
            "DNS_RESOLVERS": stack.enter_context(dns_server(names)),
            "ALLOWED_HOSTS": f"{NAME},127.0.0.1",
            "ANONYMOUS_REQUESTS_PER_MINUTE": "1000000",
            "WEB_WORKERS": "1",
            "LIST_PROCESSES": "1",
        }
        self.apps = [self._start_app("app1"), self._start_app("app2")]
        self.proxy: ReverseProxy = stack.enter_context(
            reverse_proxy(folder / "proxy", *(app.port for app in self.apps))
        )

    def _start_app(self, name: str) -> Product:
        app = Product(self._folder / name, errors=None, **self._environment)
        self._stack.callback(app.stop)
        app.wait_until_ready()
        return app

    def replicate(self) -> None:
        """Make the other machine a standby of the primary."""
        self.standby.run(
            "replication-standby", PRIMARY=f"{self.primary.address} port={self.primary.port}"
        )
        self.wait_for_commits()

    def wait_for_commits(self) -> None:
        """Let each COMMIT wait for the standby, and wait until it has caught up."""
        self.primary.run("replication-synchronous")
        query = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        wait_until(lambda: self.primary.fetch_value(query) == 1)

    def fail_over(self) -> None:
        self.standby.run("replication-promote")
        self.primary, self.standby = self.standby, self.primary

    def kill_app(self, app: Product) -> None:
        """Kill all processes of an app machine, like a power cut."""
        for process in [*psutil.Process(app.process.pid).children(recursive=True), app.process]:
            os.kill(process.pid, signal.SIGKILL)
        app.process.wait(10)

    def restart_app(self, app: Product) -> None:
        """Start a killed app machine again, and wait until it is ready."""
        with app.log.open("ab") as log:
            app.process = app.launch(log.fileno(), log.fileno())
        caller = HttpCaller(app, None)
        wait_until(lambda: psutil.Process(app.process.pid).children() and is_open(app.port))
        wait_until_ready(caller)
        caller.close()

    def kill_redis(self) -> None:
        os.kill(self.redis.pid, signal.SIGKILL)

    def restart_redis(self) -> None:
        port = urlsplit(self.redis.url).port or 0
        self.redis = self._stack.enter_context(redis_server(port))

    @contextmanager
    def traffic(self, email: str) -> Iterator[Traffic]:
        """Call with a new account's key for as long as the context lasts, then check the books."""
        with self.lossy_traffic(email) as running:
            yield running
        assert running.results <= running.charged

    @contextmanager
    def lossy_traffic(self, email: str) -> Iterator[Traffic]:
        """Do the same, but allow charges of answered calls to be lost."""
        secret = make_key(self.apps[1], email, CREDITS, CREDITS)
        account = fetch_number(self.apps[1], "SELECT max(id) FROM accounts_account")
        with traffic(self.proxy.plain_port, NAME, secret) as running:
            running.wait_for_more()
            yield running
        running.charged = self.find_charges(account)
        # Repetitions of a key got the first response.
        assert {len(results) for results in running.answered.values()} == {1}
        assert len(running.charged) <= len(running.answered) + running.sent_once

    def find_charges(self, account: int) -> set[str]:
        """Return the ids of the results that are charged, once each, and check the books."""
        assert "agree" in manage(self.apps[1], "check_books")
        where = f"WHERE account_id = {account}"
        rows = fetch_rows(
            self.apps[1],
            f"SELECT result_id FROM validation_logentry {where} AND cost = 1",  # noqa: S608
        )
        charged = [row[0] for row in rows]
        total = f"SELECT SUM(credits) FROM credits_usehour {where}"  # noqa: S608
        assert fetch_number(self.apps[1], total) == len(charged) == len(set(charged))
        return set(charged)


@contextmanager
def three_machines(folder: Path) -> Iterator[ThreeMachines]:
    with ExitStack() as stack:
        yield ThreeMachines(folder, stack)
