"""The shipped nginx configuration in front of a running product, adapted as by an operator."""

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

from tests.servers.installed import find_program
from tests.servers.product import ROOT
from tests.servers.raw_http import RawResponse
from tests.servers.redis import free_port, wait_for_port

NAME = "validation.example"


class ReverseProxy:
    def __init__(
        self, folder: Path, *ports: int, pools: tuple[int, ...] = (), **changed: str
    ) -> None:
        """Start nginx in front of the products on these ports, or of one with pools.

        `changed` overrides directives of the shipped file, such as proxy_read_timeout.
        """
        self.folder, self.pools = folder, pools
        self.port, self.plain_port = free_port(), free_port()
        self.error_log, self.access_log = folder / "error.log", folder / "access.log"
        folder.mkdir(parents=True, exist_ok=True)
        make_certificate(folder)
        file = folder / "nginx.conf"
        file.write_text(self._settings(ports, changed))
        command = [
            find_program("nginx", "/usr/sbin", "/usr/local/sbin"),
            "-e",
            str(self.error_log),
            "-c",
            str(file),
        ]
        self.process = subprocess.Popen([*command, "-g", "daemon off;"])
        wait_for_port(self.port)

    def _settings(self, ports: tuple[int, ...], changed: dict[str, str]) -> str:
        text = self._read_shipped()
        text = re.sub(r"listen \[::\]:.*", "", text)
        text = text.replace("listen 443", f"listen 127.0.0.1:{self.port}")
        text = text.replace("listen 80", f"listen 127.0.0.1:{self.plain_port}")
        text = re.sub(
            r"server 127\.0\.0\.1:800(\d)(.*;)",
            lambda match: "\n".join(
                f"server 127.0.0.1:{port}{match[2]}"
                for port in ports or [self.pools[int(match[1])]]
            ),
            text,
        )
        text = text.replace("/etc/ssl/certs/validation.example.pem", f"{self.folder}/proxy.pem")
        text = text.replace("/etc/ssl/private/validation.example.key", f"{self.folder}/proxy.key")
        text = text.replace("/var/log/nginx", str(self.folder))
        text = text.replace("/run/nginx.pid", f"{self.folder}/nginx.pid")
        max_files = min(40_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        text = text.replace("worker_rlimit_nofile 40000", f"worker_rlimit_nofile {max_files}")
        # www-data may not read the files of a developer's checkout.
        text = text.replace("user www-data;", "user root;" if os.geteuid() == 0 else "")
        for name, value in changed.items():
            text, times = re.subn(rf"\b{name} [^;]+;", f"{name} {value};", text)
            assert times, f"The shipped file does not set {name}."
        temp_paths = f"http {{\n    client_body_temp_path {self.folder}/bodies;"
        temp_paths += f"\n    proxy_temp_path {self.folder}/responses;"
        for unused in ("fastcgi", "uwsgi", "scgi"):
            temp_paths += f"\n    {unused}_temp_path {self.folder}/{unused};"
        return self._replace_paths(text.replace("http {", temp_paths, 1))

    def _read_shipped(self) -> str:
        return (ROOT / "deploy" / "nginx" / "nginx.conf").read_text()

    def _replace_paths(self, text: str) -> str:
        """Replace the product's folder here and in copies of the included files."""
        included = self.folder / "included"
        shutil.copytree(ROOT / "deploy" / "nginx", included, dirs_exist_ok=True)
        for file in included.glob("*.conf"):
            file.write_text(file.read_text().replace("/srv/email-validation", str(ROOT)))
        text = text.replace("/srv/email-validation/deploy/nginx", str(included))
        return text.replace("/srv/email-validation", str(ROOT))

    @property
    def authority(self) -> Path:
        return self.folder / "proxy.pem"

    def tls(self, *protocols: str) -> ssl.SSLContext:
        """Return a context that trusts only this proxy's certificate."""
        context = ssl.create_default_context(cafile=str(self.authority))
        if protocols:
            context.set_alpn_protocols(list(protocols))
        return context

    def send(self, *pieces: bytes, plain: bool = False, name: str = NAME) -> list[RawResponse]:
        """Send the pieces and return all responses until the proxy closes the connection."""
        port = self.plain_port if plain else self.port
        with socket.create_connection(("127.0.0.1", port), timeout=20) as plain_socket:
            context = self.tls("http/1.1")
            connection = (
                plain_socket if plain else context.wrap_socket(plain_socket, server_hostname=name)
            )
            with contextlib.suppress(OSError):
                for piece in pieces:
                    connection.sendall(piece)
            received = _receive_all(connection)
            connection.close()
        return list(_parse_responses(received))

    def alpn(self) -> str | None:
        """Return the protocol nginx selects from HTTP/2 and HTTP/1.1."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as plain_socket:
            context = self.tls("h2", "http/1.1")
            with context.wrap_socket(plain_socket, server_hostname=NAME) as connection:
                return connection.selected_alpn_protocol()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)


@contextmanager
def reverse_proxy(
    folder: Path, *ports: int, pools: tuple[int, ...] = (), **changed: str
) -> Iterator[ReverseProxy]:
    running = ReverseProxy(folder, *ports, pools=pools, **changed)
    try:
        yield running
    finally:
        running.stop()


def _receive_all(connection: socket.socket) -> bytes:
    received = b""
    # nginx may reset the connection at the end.
    with contextlib.suppress(ConnectionResetError):
        while more := connection.recv(65536):
            received += more
    return received


def _parse_responses(received: bytes) -> Iterator[RawResponse]:
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
            # A 304 has no body and no length.
            length = 0 if first.startswith("HTTP/1.1 304 ") else int(headers["Content-Length"])
            body, received = rest[:length], rest[length:]
        yield RawResponse(int(first.split()[1]), headers, body)


def make_certificate(folder: Path) -> None:
    """Create a self-signed certificate for two host names."""
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", f"/CN={NAME}"),
            *("-addext", f"subjectAltName=DNS:{NAME},DNS:other.example"),
            *("-keyout", str(folder / "proxy.key"), "-out", str(folder / "proxy.pem")),
        ],
        check=True,
        capture_output=True,
    )
