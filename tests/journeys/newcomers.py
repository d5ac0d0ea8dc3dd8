"""Customers who have just signed up: most journeys begin after that.

They come over plain HTTP, and the next one signs up while a journey still walks: hashing a password
and waiting for a mail take long. Only one ahead, for an address may sign up 20 times a minute.
"""

import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar
from itertools import count
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

from tests.journeys.people import PASSWORD, code_from_mail
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
        self._next = self._begin()

    def take(self) -> Newcomer:
        waiting, self._next = self._next, self._begin()
        return waiting.result()

    def _begin(self) -> Future[Newcomer]:
        email = f"customer@newcomers-{next(self._numbers)}.example"
        return self._threads.submit(sign_up, self._site, email)


@contextmanager
def newcomers_of(site: Product) -> Iterator[Newcomers]:
    with ThreadPoolExecutor(1) as threads:
        yield Newcomers(site, threads)


def sign_up(site: Product, email: str) -> Newcomer:
    jar = CookieJar()
    client = build_opener(HTTPCookieProcessor(jar))
    client.addheaders = [("User-Agent", BROWSER)]
    _send_form(client, f"{site.url}/accounts/signup/", email=email, password1=PASSWORD)
    code = code_from_mail(site, email)
    _send_form(client, f"{site.url}/accounts/confirm-email/", code=code)
    cookies = {cookie.name: cookie.value or "" for cookie in jar}
    return Newcomer(email, cookies)


def _send_form(client: OpenerDirector, url: str, **fields: str) -> None:
    with client.open(url) as page:
        found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.read().decode())
    assert found, url
    form = urlencode({"csrfmiddlewaretoken": found[1], **fields})
    with client.open(url, form.encode()) as answer:
        assert answer.url != url, answer.read().decode()
