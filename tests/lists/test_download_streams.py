"""Downloads of a running product: what they take of a web worker, and how they end."""

import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing

import psutil
import pytest

from tests.lists.list_processes import change
from tests.servers.client import HttpCaller
from tests.servers.keys import make_key, manage
from tests.servers.product import Product, product
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

# 30 MB of CSV: a multiple of what sockets buffer.
CHUNKS = 30
CREATE_LISTS = """
from accounts.models import Account
from tests.lists.results_factory import make_list
from tests.lists.test_downloads import fill
account = Account.objects.order_by("-pk")[0]
rows = b"".join(
    b"deliverable+%d@sandbox.test,%s\\n" % (number, b"x" * 950) for number in range(1_000)
)
for _ in range(2):
    made = make_list(account, rows)
    fill(made, {chunks})
    print(made.public_id)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("downloads")
    with product(folder, WEB_WORKERS="1", LIST_PROCESSES="0") as running:
        yield running


@pytest.fixture(scope="module")
def secret(site: Product) -> str:
    return make_key(site, "downloads@shop.example", 100_000)


@pytest.fixture(scope="module")
def list_ids(site: Product, secret: str) -> list[str]:
    """Two lists with the same rows. A test deletes rows of the second one."""
    script = CREATE_LISTS.format(chunks=CHUNKS)
    return manage(site, "shell", "--no-imports", "-c", script).split()


@pytest.fixture
def list_id(list_ids: list[str]) -> str:
    return list_ids[0]


def open_download(
    site: Product, secret: str, list_id: str, version: str = "1.1"
) -> tuple[socket.socket, bytes]:
    """Send a request, and read the beginning of its response.

    The downloads of an earlier test may end a moment later than the test.
    """
    opened: list[tuple[socket.socket, bytes]] = []

    def is_accepted() -> bool:
        connection = socket.create_connection(("127.0.0.1", site.port), timeout=30)
        connection.sendall(
            f"GET /v1/lists/{list_id}/download HTTP/{version}\r\nHost: 127.0.0.1\r\n"
            f"Authorization: Bearer {secret}\r\n\r\n".encode()
        )
        opened.append((connection, connection.recv(4_096)))
        return b" 429 " not in opened[-1][1][:20]

    wait_until(is_accepted)
    *refused, accepted = opened
    for connection, _ in refused:
        connection.close()
    return accepted


def read_to_end(connection: socket.socket) -> bytes:
    content = bytearray()
    while piece := connection.recv(1 << 20):
        content += piece
        # The end of a chunked body. The connection stays open.
        if content.endswith(b"\r\n0\r\n\r\n"):
            break
    return bytes(content)


def worker_memory(site: Product) -> int:
    processes = psutil.Process(site.process.pid).children(recursive=True)
    return int(max(process.memory_info().rss for process in processes))


def count_ends(site: Product, end: str) -> int:
    """Return how many downloads ended so, as the access log says."""
    lines = site.output().splitlines()
    return sum("/download 200" in line and line.endswith(f"ms {end}") for line in lines)


def test_four_unread_downloads_are_the_most_and_leave_memory_and_calls_to_others(
    site: Product, secret: str, list_id: str
) -> None:
    before = worker_memory(site)
    with ExitStack() as stack:
        for _ in range(4):
            connection, head = open_download(site, secret, list_id)
            stack.enter_context(closing(connection))
            assert head.startswith(b"HTTP/1.1 200 OK")
        assert worker_memory(site) - before < 60 << 20
        caller = stack.enter_context(closing(HttpCaller(site, secret)))
        assert caller.get().status == 200
        fifth = caller.get(f"/v1/lists/{list_id}/download")
    error = fifth.document["error"]
    assert (fifth.status, error["code"]) == (429, "rate_limit_exceeded")
    assert fifth.headers["Retry-After"] == str(error["details"]["retry_after"])
    assert error["message"].endswith("Wait until one has ended.")


def test_complete_download_ends_with_a_last_chunk(site: Product, secret: str, list_id: str) -> None:
    connection, head = open_download(site, secret, list_id)
    with closing(connection):
        content = head + read_to_end(connection)
    assert content.count(b"@sandbox.test,xxx") == CHUNKS * 1_000
    assert content.endswith(b"\r\n0\r\n\r\n")
    wait_until(lambda: count_ends(site, "answered"))


def test_interrupted_download_is_an_error(site: Product, secret: str, list_ids: list[str]) -> None:
    """In HTTP/1.0, the end of the connection is the end of the response."""
    opened = [open_download(site, secret, list_ids[1], version)[0] for version in ("1.1", "1.0")]
    change(site, "DELETE FROM lists_listchunk WHERE id = (SELECT MAX(id) FROM lists_listchunk)")
    for connection in opened:
        with closing(connection), pytest.raises(ConnectionResetError):
            read_to_end(connection)
    wait_until(lambda: count_ends(site, "interrupted") == 2)


def test_log_says_that_the_client_disconnected(site: Product, secret: str, list_id: str) -> None:
    connection, _head = open_download(site, secret, list_id)
    linger = struct.pack("ii", 1, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    connection.close()
    wait_until(lambda: count_ends(site, "client disconnected"))
