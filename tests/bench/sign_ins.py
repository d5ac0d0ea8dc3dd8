"""Measure how strangers who try passwords affect customers of the API.

200 strangers, each from their own network address, try wrong passwords as fast as they get answers,
while 16 callers validate addresses. Each round compares with the seconds before it.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from urllib.parse import urlencode

from tests.bench.api import validate
from tests.bench.customers import make_customers
from tests.bench.load import Address, Load, Outcome, generate, percentile
from tests.bench.overload import largest_worker_megabytes
from tests.bench.servers import servers
from tests.bench.table import Metric, over_rounds
from tests.servers.browser import PlainBrowser
from tests.servers.pools import Pools, pools

ROUNDS, SECONDS = 7, 5.0
CALLERS, STRANGERS = 16, 200
LOGIN, OWNER = "/accounts/login/", "owner@example.com"
# Any token works if cookie and form contain the same one, because strangers have no session.
CSRF_TOKEN = "c" * 32


@dataclass(frozen=True)
class Round:
    before: Outcome
    during: Outcome
    strangers: Outcome
    # The size of the largest web worker of the pool for pages.
    megabytes_before: float
    megabytes_during: float
    # From the click to the dashboard, in a browser that has signed in before.
    known_browser_seconds: float


@contextmanager
def site() -> Iterator[Pools]:
    settings = {"WEB_WORKERS": "2", "TRUSTED_PROXIES": "1"}
    with (
        servers() as shared,
        pools(shared.folder / "shared", **settings, **shared.environment) as running,
    ):
        yield running


def seconds_to_sign_in(browser: PlainBrowser, password: str) -> float:
    """Sign in, sign out again, and return how long it took to reach the dashboard."""
    started = time.perf_counter()
    page = browser.send(LOGIN, login=OWNER, password=password)
    seconds = time.perf_counter() - started
    assert "Overview" in page
    browser.send("/accounts/logout/")
    return seconds


def wrong_sign_in(number: int) -> tuple[bytes, bytes]:
    """Return a stranger's two requests: one for the page, and one with a wrong password."""
    head = (
        f"HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 10.{number // 250}.{number % 250}.7\r\n"
        f"Cookie: csrf={CSRF_TOKEN}\r\n"
    )
    fields = {"login": f"jane.{number}@shop.example", "password": "a wrong password"}
    body = urlencode({**fields, "csrfmiddlewaretoken": CSRF_TOKEN})
    form = f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n"
    page = f"GET {LOGIN} {head}\r\n"
    return page.encode(), f"POST {LOGIN} {head}{form}\r\n{body}".encode()


def measure_round(
    executor: Executor, site: Pools, calls: tuple[bytes, ...], browser: PlainBrowser
) -> Round:
    address = Address("127.0.0.1", site.port)
    pages = Address("127.0.0.1", site.port_of("pages"))
    customers = Load(address, calls, CALLERS, SECONDS, statuses=(200, 503))
    before = executor.submit(generate, customers).result()
    pages_pid = site.processes["pages"].pid
    megabytes_before = largest_worker_megabytes(pages_pid)
    # In this order, each stranger requests the page and then sends the form.
    attempts = tuple(wrong_sign_in(number)[step] for step in (0, 1) for number in range(STRANGERS))
    strangers = executor.submit(
        generate, Load(pages, attempts, STRANGERS, SECONDS + 2, 10, statuses=None)
    )
    time.sleep(1)
    during = executor.submit(generate, customers)
    time.sleep(SECONDS / 2)
    known_browser_seconds = seconds_to_sign_in(browser, site.owner_password())
    megabytes_during = largest_worker_megabytes(pages_pid)
    return Round(
        before,
        during.result(),
        strangers.result(),
        megabytes_before,
        megabytes_during,
        known_browser_seconds,
    )


def measure(executor: Executor, print_progress: Callable[[str], None]) -> list[Metric]:
    rounds: list[Round] = []
    with site() as running:
        paid = make_customers(running)["paid"]
        calls = tuple(map(validate, count(), paid))
        browser = PlainBrowser(f"http://127.0.0.1:{running.port_of('pages')}")
        seconds_to_sign_in(browser, running.owner_password())
        measure_round(executor, running, calls, browser)
        for number in range(1, ROUNDS + 1):
            rounds.append(measure_round(executor, running, calls, browser))
            print_progress(f"Round {number} of {ROUNDS} is done.")
    return _metrics(rounds)


def _metrics(rounds: list[Round]) -> list[Metric]:
    metric = partial(over_rounds, rounds)

    def rate(status: int) -> Callable[[Round], float]:
        return lambda measured: (
            len(measured.strangers.by_status.get(status, [])) / measured.strangers.seconds
        )

    p99_before = percentile((measured.before for measured in rounds), 99)
    p99_during = percentile((measured.during for measured in rounds), 99)
    return [
        metric("validate: requests/s without sign-ins", lambda measured: measured.before.rate),
        metric(
            "rate relative to undisturbed",
            lambda measured: measured.during.rate / measured.before.rate,
            at_least=0.9,
        ),
        Metric("p99 of all rounds, relative to undisturbed", [p99_during / p99_before], at_most=2),
        metric(
            "calls with a valid key that got a 503",
            lambda measured: float(len(measured.during.by_status.get(503, []))),
            at_most=0,
        ),
        metric("sign-in pages per second", rate(200)),
        metric("refused sign-ins per second", rate(503)),
        metric(
            "memory of the largest worker, relative to undisturbed",
            lambda measured: measured.megabytes_during / measured.megabytes_before,
            at_most=1.5,
        ),
        metric(
            "seconds to sign in with a known browser",
            lambda measured: measured.known_browser_seconds,
            at_most=3,
        ),
    ]
