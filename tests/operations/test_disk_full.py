"""The disk under SQLite is full: who reads is served, who would write is told to come back, nothing
is half written, and it is over as soon as there is room."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError

import psutil
import pytest

from tests.servers.books import ask, assert_books_agree
from tests.servers.browser import PlainBrowser
from tests.servers.client import HttpAnswer, HttpCaller, until_ready
from tests.servers.disk import FileLimit, SmallDisk, small_disk
from tests.servers.keys import make_key
from tests.servers.product import Product, product

pytestmark = [pytest.mark.process, pytest.mark.fault]


@contextmanager
def site_on_a_disk(tmp_path: Path, kind: str) -> Iterator[tuple[Product, SmallDisk | FileLimit]]:
    if kind == "limit":
        with product(tmp_path) as site:
            family = psutil.Process(site.process.pid).children(recursive=True)
            yield site, FileLimit(lambda: [one.pid for one in family])
        return
    with small_disk(tmp_path / "disk", megabytes=16) as disk:
        if disk is None:
            pytest.skip("Only root can make a small file system, and not everywhere.")
        with product(disk.folder) as site:
            yield site, disk


def until(caller: HttpCaller, status: int) -> list[HttpAnswer]:
    answers = [caller.validate("no address")]
    deadline = time.monotonic() + 20
    while answers[-1].status != status:
        assert time.monotonic() < deadline
        answers.append(caller.validate("no address"))
    return answers


def page_of(browser: PlainBrowser, path: str, **fields: str) -> tuple[int, str, str]:
    with pytest.raises(HTTPError) as raised:
        browser.send(path, **fields)
    error = raised.value
    return error.code, error.headers["Retry-After"], error.read().decode()


@pytest.mark.parametrize("kind", ["full", "limit"])
def test_a_full_disk_loses_nothing_and_is_over_when_there_is_room(
    tmp_path: Path, kind: str
) -> None:
    with site_on_a_disk(tmp_path, kind) as (site, disk):
        caller = HttpCaller(site, make_key(site, "full@shop.example", 10_000, 10_000))
        browser = PlainBrowser(site.url)
        answers = until(caller, 200)
        disk.fill()
        answers += until(caller, 503)
        answers += [caller.validate("no address") for _ in range(20)]
        answers += [caller.validate("no address", Idempotency_Key="one")]
        read, ready = caller.get(), caller.get("/readyz")
        page = page_of(browser, "/accounts/password/reset/", email="owner@example.com")
        disk.make_room()
        answers += until(caller, 200)
        answers += [caller.validate("no address", Idempotency_Key="one")]
        until_ready(caller)
        caller.close()
        answered = {one.document["id"] for one in answers if one.status == 200}
        assert_books_agree(site, answered=answered)
        assert ask(site, "PRAGMA integrity_check") == [("ok",)]
    assert {answer.status for answer in answers} == {200, 503}
    assert answers[-1].status == 200
    for refused in (one for one in answers if one.status == 503):
        assert refused.document["error"]["code"] == "service_unavailable"
        assert refused.document["error"]["details"]["retry_after"] >= 1
    # What is only read is answered.
    assert read.status == 200
    assert (page[0], page[1]) == (503, "5")
    assert "We cannot answer at the moment" in page[2]
    if kind == "full":
        assert (ready.status, ready.document["database"]) == (503, "unavailable")
