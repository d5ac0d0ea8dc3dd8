"""`/metrics`, on a port of its own: what all processes of this machine counted, for Prometheus.

It is served by the process that watches over the others, and knows no request of a customer.
"""

import platform
import threading
import tomllib
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import AF_INET, AF_INET6

import django
from django.conf import settings
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector

from runtime.metrics.process_files import merge_dead_process_files
from runtime.metrics.registry import PREFIX

CLIENT_SECONDS = 10


class BuildInfo:
    name = f"{PREFIX}_build_info"
    says = "Always 1; which program this is, by its labels."

    def collect(self) -> Iterable[Metric]:
        project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]
        info = GaugeMetricFamily(self.name, self.says, labels=("version", "python", "django"))
        info.add_metric((project["version"], platform.python_version(), django.__version__), 1)
        yield info


class MetricsExporter(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], folder: Path) -> None:
        """Raises OSError where the address is taken."""
        self.address_family = AF_INET6 if ":" in address[0] else AF_INET
        super().__init__(address, Handler)
        self._folder = folder
        self._registry = CollectorRegistry()
        self._registry.register(BuildInfo())
        MultiProcessCollector(self._registry, str(folder))
        # The files of the dead are moved by one at a time.
        self._lock = threading.Lock()

    def begin(self) -> None:
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def page(self, accepts: str) -> tuple[bytes, str]:
        encode, kind = choose_encoder(accepts)
        with self._lock:
            merge_dead_process_files(self._folder)
            return encode(self._registry), kind

    def handle_error(self, request: object, client_address: object) -> None:
        """Who went away in the middle of an answer is nobody's trouble."""


class Handler(BaseHTTPRequestHandler):
    server: MetricsExporter
    timeout = CLIENT_SECONDS
    server_version, sys_version = "metrics", ""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(404)
            return
        body, kind = self.server.page(self.headers.get("Accept", ""))
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Scrapes are no requests."""


def empty(folder: Path) -> None:
    """The numbers of processes that were here before are other processes' now."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in [*folder.glob("*.db"), *folder.glob("*.new")]:
        path.unlink()
