"""The background worker runs this, or else `manage.py serve_metrics`."""

import os
import platform
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import AF_INET, AF_INET6

import django
from django.conf import settings
from django.core.management.base import CommandError
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

CLIENT_TIMEOUT = 10


class BuildInfo:
    name = "emailvalidation_build_info"
    help_text = "Always 1; labels identify the running version."

    def collect(self) -> Iterable[Metric]:
        labels = {
            "version": settings.VERSION,
            "commit": settings.COMMIT,
            "python": platform.python_version(),
            "django": django.__version__,
        }
        info = GaugeMetricFamily(self.name, self.help_text, labels=tuple(labels))
        info.add_metric(list(labels.values()), 1)
        yield info


class MetricsExporter(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], folder: Path) -> None:
        """Raise OSError if the address is in use."""
        self.address_family = AF_INET6 if ":" in address[0] else AF_INET
        super().__init__(address, Handler)
        self._folder = folder
        self._registry = CollectorRegistry()
        self._registry.register(BuildInfo())
        MultiProcessCollector(self._registry, str(folder))
        # One request at a time deletes and reads files.
        self._lock = threading.Lock()

    def start(self) -> None:
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def render(self, accept: str) -> tuple[bytes, str]:
        encode, content_type = choose_encoder(accept)
        with self._lock:
            for path in self._folder.glob("gauge_live*.db"):
                process = _process_of(path)
                if not _is_alive(process):
                    mark_process_dead(process, str(self._folder))
            return encode(self._registry), content_type

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect during a response."""


class Handler(BaseHTTPRequestHandler):
    server: MetricsExporter
    timeout = CLIENT_TIMEOUT
    server_version, sys_version = "metrics", ""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(404)
            return
        body, content_type = self.server.render(self.headers.get("Accept", ""))
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Keep scrapes out of the access log."""


def start_exporter(address: tuple[str, int]) -> None:
    settings.METRICS_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        MetricsExporter(address, settings.METRICS_DIR).start()
    except OSError as error:
        host, port = address
        raise CommandError(
            f"Can't serve metrics on {host}, port {port}: {error.strerror}."
        ) from error


def delete_earlier_metrics(folder: Path) -> None:
    """Delete the files, unless one of their processes runs, so that the totals continue."""
    files = list(folder.glob("*.db"))
    if not any(_is_alive(_process_of(path)) for path in files):
        for path in files:
            path.unlink(missing_ok=True)


def _process_of(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])


def _is_alive(process: int) -> bool:
    if process == 0:
        return False
    try:
        os.kill(process, 0)
    # PermissionError: it's another user's process.
    except (ProcessLookupError, PermissionError):
        return False
    return True
