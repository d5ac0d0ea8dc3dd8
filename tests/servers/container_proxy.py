"""compose's proxy: Caddy with the shipped Caddyfile, on loopback.

Its certificate comes from Caddy's own authority: a public one would have to reach this machine.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.servers.installed import find_program
from tests.servers.product import ROOT
from tests.servers.production import ENVIRONMENT
from tests.servers.raw_http import RawResponse
from tests.servers.redis import free_port
from tests.servers.reverse_proxy import NAME, ReverseProxy
from tests.support.waiting import wait_until

CADDYFILE = ROOT / "deploy" / "caddy" / "Caddyfile"
START_SECONDS = 20


def find_caddy() -> str:
    return find_program("caddy", str(Path(sys.executable).parent))


def environment(folder: Path) -> dict[str, str]:
    """Return the variables that compose.yaml sets, and a home for certificates."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "BASE_URL": ENVIRONMENT["BASE_URL"],
        "SUPPORT_EMAIL": ENVIRONMENT["SUPPORT_EMAIL"],
        "ANONYMOUS_REQUESTS_PER_MINUTE": "90",
    }


class ContainerProxy(ReverseProxy):
    def __init__(self, folder: Path, *pools: int, **changed: str) -> None:
        """Start Caddy in front of the products on these ports, one per pool or one for all.

        `changed` overrides options of the shipped file, such as read_header.
        """
        self.folder = folder
        self.port, self.plain_port = free_port(), free_port()
        self.error_log = folder / "error.log"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "Caddyfile"
        file.write_text(self._adapt(pools, changed))
        with self.error_log.open("w") as log:
            self.process = subprocess.Popen(
                [find_caddy(), "run", "--config", str(file)], env=environment(folder), stderr=log
            )
        wait_until(self._has_certificate, START_SECONDS)

    def _adapt(self, pools: tuple[int, ...], changed: dict[str, str]) -> str:
        text = CADDYFILE.read_text().replace("/srv/email-validation", str(ROOT))
        options = f"http_port {self.plain_port}\nhttps_port {self.port}\nadmin off\n"
        options += "local_certs\nskip_install_trust\ndefault_bind 127.0.0.1\n"
        text = text.replace("{\n", "{\n" + options, 1)
        for index, name in enumerate(("api", "bulk", "pages")):
            text = text.replace(f"{name}:8000", f"127.0.0.1:{pools[index % len(pools)]}")
        for name, value in changed.items():
            before = [line.strip() for line in text.splitlines() if line.strip().startswith(name)]
            assert before, f"The shipped file does not set {name}."
            for line in before:
                text = text.replace(line, f"{name} {value}")
        return text

    def _has_certificate(self) -> bool:
        # Neither the port, the authority nor the certificate exists at the start.
        with suppress(OSError):
            return bool(self.alpn())
        return False

    @property
    def authority(self) -> Path:
        return self.folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"

    def send(self, *pieces: bytes, plain: bool = False, name: str = NAME) -> list[RawResponse]:
        """Send the pieces as to nginx. Caddy writes names of headers in its own case."""
        responses = super().send(*pieces, plain=plain, name=name)
        for response in responses:
            names = {name: name.replace("Ratelimit", "RateLimit") for name in response.headers}
            response.headers.update({names[n]: text for n, text in [*response.headers.items()]})
        return responses


@contextmanager
def container_proxy(folder: Path, *pools: int, **changed: str) -> Iterator[ContainerProxy]:
    running = ContainerProxy(folder, *pools, **changed)
    try:
        yield running
    finally:
        running.stop()
