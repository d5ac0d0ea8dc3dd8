"""Downloads of a running product: what they take of a web worker, and how they end."""

import http.client
import io
import json
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing

import psutil
import pytest
from python_calamine import CalamineWorkbook

from tests.lists.list_processes import change
from tests.servers.keys import make_key, manage
from tests.servers.product import Product, product
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

# 30 MB of CSV: a multiple of what sockets buffer.
CHUNKS = 30
CREATE_LIST = """
from accounts.models import Account
from tests.lists.results_factory import make_list
from tests.lists.test_downloads import fill
account = Account.objects.order_by("-pk")[0]
rows = b"".join(
    b"deliverable+%d@sandbox.test,%s\\n" % (number, b"x" * 950) for number in range(1_000)
)
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
def list_id(site: Product, secret: str) -> str:
    return create_list(site)


def create_list(site: Product) -> str:
    return manage(site, "shell", "--no-imports", "-c", CREATE_LIST.format(chunks=CHUNKS))


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


def test_downloads_that_nobody_reads_take_little_memory(
    site: Product, secret: str, list_id: str
) -> None:
    before = worker_memory(site)
    with ExitStack() as stack:
        for _ in range(4):
            connection, head = open_download(site, secret, list_id)
            stack.enter_context(closing(connection))
            assert head.startswith(b"HTTP/1.1 200 OK")
        assert worker_memory(site) - before < 60 << 20


def test_account_can_have_four_downloads_in_progress(
    site: Product, secret: str, list_id: str
) -> None:
    with ExitStack() as stack:
        for _ in range(4):
            connection, _head = open_download(site, secret, list_id)
            stack.enter_context(closing(connection))
        fifth = http.client.HTTPConnection("127.0.0.1", site.port)
        stack.enter_context(closing(fifth))
        headers = {"Authorization": f"Bearer {secret}"}
        fifth.request("GET", f"/v1/lists/{list_id}/download", headers=headers)
        response = fifth.getresponse()
        error = json.loads(response.read())["error"]
    assert (response.status, error["code"]) == (429, "rate_limit_exceeded")
    assert response.headers["Retry-After"] == str(error["details"]["retry_after"])
    assert error["message"].endswith("Wait until one has ended.")


def test_complete_download_ends_with_the_last_chunk(
    site: Product, secret: str, list_id: str
) -> None:
    connection, head = open_download(site, secret, list_id)
    with closing(connection):
        content = head + read_to_end(connection)
    assert content.count(b"@sandbox.test,xxx") == CHUNKS * 1_000
    assert content.endswith(b"\r\n0\r\n\r\n")
    wait_until(lambda: count_ends(site, "answered"))


def test_excel_file_is_sent_while_its_rows_are_read(
    site: Product, secret: str, list_id: str
) -> None:
    client = http.client.HTTPConnection("127.0.0.1", site.port, timeout=30)
    with closing(client):
        headers = {"Authorization": f"Bearer {secret}"}
        client.request("GET", f"/v1/lists/{list_id}/download?format=xlsx", headers=headers)
        response = client.getresponse()
        assert response.headers["X-List-State"] == "completed"
        assert response.headers["Transfer-Encoding"] == "chunked"
        content = response.read()
    workbook = CalamineWorkbook.from_filelike(io.BytesIO(content))
    assert workbook.get_sheet_by_index(0).height == 1 + CHUNKS * 1_000


def test_interrupted_download_is_an_error(site: Product, secret: str) -> None:
    """In HTTP/1.0, the end of the connection is the end of the response."""
    list_id = create_list(site)
    opened = [open_download(site, secret, list_id, version)[0] for version in ("1.1", "1.0")]
    change(site, "DELETE FROM lists_listchunk WHERE id = (SELECT MAX(id) FROM lists_listchunk)")
    for connection in opened:
        with closing(connection), pytest.raises(ConnectionResetError):
            read_to_end(connection)
    wait_until(lambda: count_ends(site, "interrupted") == 2)


def test_log_says_that_the_client_has_disconnected(
    site: Product, secret: str, list_id: str
) -> None:
    connection, _head = open_download(site, secret, list_id)
    linger = struct.pack("ii", 1, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    connection.close()
    wait_until(lambda: count_ends(site, "client disconnected"))


def test_calls_are_answered_while_downloads_wait_for_their_readers(
    site: Product, secret: str, list_id: str
) -> None:
    with ExitStack() as stack:
        for _ in range(4):
            connection, _head = open_download(site, secret, list_id)
            stack.enter_context(closing(connection))
        caller = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
        stack.enter_context(closing(caller))
        caller.request("GET", "/v1/me", headers={"Authorization": f"Bearer {secret}"})
        assert caller.getresponse().status == 200
