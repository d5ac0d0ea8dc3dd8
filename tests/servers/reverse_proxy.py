"""The shipped nginx before a product that runs, with only what an operator changes changed."""

import contextlib
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers.product import ROOT
from tests.servers.raw import RawAnswer
from tests.servers.redis import free_port, wait_for_port

NAME = "validation.example"
MISSING = "The tests of the front need nginx, and there is no `nginx` on the PATH."


def nginx_program() -> str:
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if program:
        return program
    if os.environ.get("JOURNEYS") == "required":
        pytest.fail(MISSING)
    pytest.skip(MISSING)


class Front:
    def __init__(self, folder: Path, *machines: int, **changed: str) -> None:
        """Before the products on these ports. `changed`: settings of the shipped file by their
        names, such as proxy_read_timeout."""
        self.folder = folder
        self.port, self.plain_port = free_port(), free_port()
        self.error_log, self.access_log = folder / "error.log", folder / "access.log"
        folder.mkdir(parents=True, exist_ok=True)
        make_certificate(folder)
        file = folder / "nginx.conf"
        file.write_text(self._settings(machines, changed))
        command = [nginx_program(), "-e", str(self.error_log), "-c", str(file)]
        self.process = subprocess.Popen([*command, "-g", "daemon off;"])
        wait_for_port(self.port)

    def _settings(self, machines: tuple[int, ...], changed: dict[str, str]) -> str:
        text = (ROOT / "deploy" / "nginx" / "nginx.conf").read_text()
        text = re.sub(r"listen \[::\]:.*", "", text)
        text = text.replace("listen 443", f"listen 127.0.0.1:{self.port}")
        text = text.replace("listen 80", f"listen 127.0.0.1:{self.plain_port}")
        text = re.sub(
            r"server 127\.0\.0\.1:8000(.*;)",
            lambda found: "\n".join(f"server 127.0.0.1:{port}{found[1]}" for port in machines),
            text,
        )
        text = text.replace("/etc/ssl/certs/validation.example.pem", f"{self.folder}/front.pem")
        text = text.replace("/etc/ssl/private/validation.example.key", f"{self.folder}/front.key")
        text = text.replace("/var/log/nginx", str(self.folder))
        text = text.replace("/run/nginx.pid", f"{self.folder}/nginx.pid")
        most = min(40_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        text = text.replace("worker_rlimit_nofile 40000", f"worker_rlimit_nofile {most}")
        # The files of a workshop are for the one who works there.
        text = text.replace("user www-data;", "user root;" if os.geteuid() == 0 else "")
        for name, value in changed.items():
            text, times = re.subn(rf"\b{name} [^;]+;", f"{name} {value};", text)
            assert times, f"The shipped file does not set {name}."
        bodies = f"http {{\n    client_body_temp_path {self.folder}/bodies;"
        bodies += f"\n    proxy_temp_path {self.folder}/answers;"
        for unused in ("fastcgi", "uwsgi", "scgi"):
            bodies += f"\n    {unused}_temp_path {self.folder}/{unused};"
        return self._with_our_files(text.replace("http {", bodies, 1))

    def _with_our_files(self, text: str) -> str:
        """Those that it includes name the product's folder as well."""
        ours = self.folder / "front"
        shutil.copytree(ROOT / "deploy" / "nginx", ours, dirs_exist_ok=True)
        for file in ours.glob("*.conf"):
            file.write_text(file.read_text().replace("/srv/email-validation", str(ROOT)))
        text = text.replace("/srv/email-validation/deploy/nginx", str(ours))
        return text.replace("/srv/email-validation", str(ROOT))

    def tls(self, *protocols: str) -> ssl.SSLContext:
        """What trusts this front's certificate, and no other."""
        context = ssl.create_default_context(cafile=str(self.folder / "front.pem"))
        if protocols:
            context.set_alpn_protocols(list(protocols))
        return context

    def say(self, *pieces: bytes, plain: bool = False, name: str = NAME) -> list[RawAnswer]:
        """All that is answered until the front closes the connection."""
        port = self.plain_port if plain else self.port
        with socket.create_connection(("127.0.0.1", port), timeout=20) as bare:
            context = self.tls("http/1.1")
            connection = bare if plain else context.wrap_socket(bare, server_hostname=name)
            with contextlib.suppress(OSError):
                for piece in pieces:
                    connection.sendall(piece)
            received = _all_of(connection)
            connection.close()
        return list(_answers(received))

    def alpn(self) -> str | None:
        """Which of the two it chooses."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as bare:
            context = self.tls("h2", "http/1.1")
            with context.wrap_socket(bare, server_hostname=NAME) as connection:
                return connection.selected_alpn_protocol()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)


@contextmanager
def front(folder: Path, *machines: int, **changed: str) -> Iterator[Front]:
    running = Front(folder, *machines, **changed)
    try:
        yield running
    finally:
        running.stop()


def _all_of(connection: socket.socket) -> bytes:
    received = b""
    # It may end in a reset.
    with contextlib.suppress(ConnectionResetError):
        while more := connection.recv(65536):
            received += more
    return received


def _answers(received: bytes) -> Iterator[RawAnswer]:
    while received:
        head, _, rest = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        assert first.startswith("HTTP/1.1 "), first
        if first.startswith("HTTP/1.1 100 "):
            received = rest
            continue
        headers = {name: text for name, _, text in (line.partition(": ") for line in lines)}
        if headers.get("Transfer-Encoding") == "chunked":
            body, _, received = rest.partition(b"\r\n0\r\n\r\n")
            body = body.partition(b"\r\n")[2]
        else:
            length = int(headers["Content-Length"])
            body, received = rest[:length], rest[length:]
        yield RawAnswer(int(first.split()[1]), headers, body)


def make_certificate(folder: Path) -> None:
    """By the operator's own hand, as for a trial."""
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", f"/CN={NAME}"),
            *("-addext", f"subjectAltName=DNS:{NAME},DNS:other.example"),
            *("-keyout", str(folder / "front.key"), "-out", str(folder / "front.pem")),
        ],
        check=True,
        capture_output=True,
    )
