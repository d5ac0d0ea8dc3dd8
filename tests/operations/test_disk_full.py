"""When SQLite's disk is full, reads still succeed and writes get 503.

Nothing is half written, and the product recovers as soon as there is free space.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError

import psutil
import pytest

from tests.servers.books import assert_books_agree, fetch_rows
from tests.servers.browser import PlainBrowser
from tests.servers.client import ClientResponse, HttpCaller, wait_until_ready
from tests.servers.disk import FileLimit, SmallDisk, small_disk
from tests.servers.keys import make_key
from tests.servers.product import Product, product
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.fault]


@contextmanager
def site_on_disk(tmp_path: Path, kind: str) -> Iterator[tuple[Product, SmallDisk | FileLimit]]:
    if kind == "limit":
        with product(tmp_path) as site:
            processes = psutil.Process(site.process.pid).children(recursive=True)
            yield site, FileLimit(lambda: [process.pid for process in processes])
        return
    with small_disk(tmp_path / "disk", megabytes=16) as disk:
        if disk is None:
            pytest.skip("Mounting a small file system needs root.")
        with product(disk.folder) as site:
            yield site, disk


def validate_until(caller: HttpCaller, status: int) -> list[ClientResponse]:
    responses: list[ClientResponse] = []

    def is_answered() -> bool:
        responses.append(caller.validate("no address"))
        return responses[-1].status == status

    wait_until(is_answered)
    return responses


@pytest.mark.parametrize("kind", ["full", "limit"])
def test_full_disk_refuses_an_upload_and_stores_no_half_list(tmp_path: Path, kind: str) -> None:
    with site_on_disk(tmp_path, kind) as (site, disk):
        caller = HttpCaller(site, make_key(site, "full@shop.example", 10_000, 10_000))
        content, text = "jane@shop.example\n" * 20_000, {"Content-Type": "text/plain"}
        disk.fill()
        refused = caller.call("POST", "/v1/lists", content, text)
        during = caller.get("/v1/lists")
        disk.free_space()
        validate_until(caller, 200)
        stored = caller.call("POST", "/v1/lists", content, text)
        after = caller.get("/v1/lists")
    assert (refused.status, refused.document["error"]["code"]) == (503, "service_unavailable")
    assert during.document["data"] == []
    assert stored.status == 201
    assert [found["id"] for found in after.document["data"]] == [stored.document["id"]]


def wait_for_full_disk_in_readyz(caller: HttpCaller) -> None:
    """Wait until no earlier, healthy result is reused."""
    wait_until(lambda: caller.get("/readyz").status == 503)
    assert caller.get("/readyz").document["database"] == "unavailable"


def send_refused_form(browser: PlainBrowser, path: str, **fields: str) -> tuple[int, str, str]:
    with pytest.raises(HTTPError) as raised:
        browser.send(path, **fields)
    error = raised.value
    return error.code, error.headers["Retry-After"], error.read().decode()


@pytest.mark.parametrize("kind", ["full", "limit"])
def test_full_disk_loses_no_charge_and_recovers_with_free_space(tmp_path: Path, kind: str) -> None:
    with site_on_disk(tmp_path, kind) as (site, disk):
        caller = HttpCaller(site, make_key(site, "full@shop.example", 10_000, 10_000))
        browser = PlainBrowser(site.url)
        responses = validate_until(caller, 200)
        disk.fill()
        responses += validate_until(caller, 503)
        responses += [caller.validate("no address") for _ in range(20)]
        responses += [caller.validate("no address", Idempotency_Key="one")]
        read = caller.get()
        if kind == "full":
            wait_for_full_disk_in_readyz(caller)
        page = send_refused_form(browser, "/accounts/password/reset/", email="owner@example.com")
        disk.free_space()
        responses += validate_until(caller, 200)
        responses += [caller.validate("no address", Idempotency_Key="one")]
        wait_until_ready(caller)
        answered = {response.document["id"] for response in responses if response.status == 200}
        assert_books_agree(site, answered=answered)
        assert fetch_rows(site, "PRAGMA integrity_check") == [("ok",)]
    assert {response.status for response in responses} == {200, 503}
    assert responses[-1].status == 200
    for refused in (response for response in responses if response.status == 503):
        assert refused.document["error"]["code"] == "service_unavailable"
        assert refused.document["error"]["details"]["retry_after"] >= 1
    # Reads still succeed.
    assert read.status == 200
    assert (page[0], page[1]) == (503, "5")
    assert "Temporarily unavailable" in page[2]
