"""Customers who have just signed up, with whom most journeys start.

While a journey runs, the next customer signs up over plain HTTP in the background, because hashing
the password and waiting for the email is slow. Each one has a loopback address of their own,
because sign-ups are limited to 20 per minute and IP address.
"""

import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPResponse
from http.cookiejar import CookieJar
from itertools import count
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, HTTPHandler, OpenerDirector, Request, build_opener

from tests.journeys.sign_in import PASSWORD, code_from_email
from tests.servers.product import Product

BROWSER = "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0"


@dataclass(frozen=True)
class Newcomer:
    email: str
    cookies: dict[str, str]


class Newcomers:
    def __init__(self, site: Product, threads: ThreadPoolExecutor) -> None:
        self._site = site
        self._threads = threads
        self._numbers = count(1)
        self._next = self._start_sign_up()

    def take(self) -> Newcomer:
        current, self._next = self._next, self._start_sign_up()
        return current.result()

    def _start_sign_up(self) -> Future[Newcomer]:
        number = next(self._numbers)
        email = f"customer@newcomers-{number}.example"
        return self._threads.submit(sign_up, self._site, email, f"127.0.1.{number % 250 + 1}")


class _FromAddress(HTTPHandler):
    """Connects from one of this machine's loopback addresses."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._connect = partial(HTTPConnection, source_address=(address, 0))

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(self._connect, req)


@contextmanager
def open_newcomers(site: Product) -> Iterator[Newcomers]:
    with ThreadPoolExecutor(1) as threads:
        yield Newcomers(site, threads)


def sign_up(site: Product, email: str, address: str = "127.0.0.1") -> Newcomer:
    jar = CookieJar()
    client = build_opener(HTTPCookieProcessor(jar), _FromAddress(address))
    client.addheaders = [("User-Agent", BROWSER)]
    _send_form(client, f"{site.url}/accounts/signup/", email=email, password1=PASSWORD)
    code = code_from_email(site, email)
    _send_form(client, f"{site.url}/accounts/confirm-email/", code=code)
    cookies = {cookie.name: cookie.value or "" for cookie in jar}
    return Newcomer(email, cookies)


def _send_form(client: OpenerDirector, url: str, **fields: str) -> None:
    with client.open(url) as page:
        match = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.read().decode())
    assert match, url
    form = urlencode({"csrfmiddlewaretoken": match[1], **fields})
    with client.open(url, form.encode()) as response:
        assert response.url != url, response.read().decode()
