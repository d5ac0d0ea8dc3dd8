"""The background worker runs this, or else `manage.py serve_metrics`."""

import os
import platform
import threading
from collections.abc import Iterable
from pathlib import Path
from socket import AF_INET6
from wsgiref.simple_server import WSGIRequestHandler, make_server
from wsgiref.types import StartResponse, WSGIEnvironment

import django
from django.conf import settings
from django.core.management.base import CommandError
from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import ThreadingWSGIServer
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead


class MetricsCollector(MultiProcessCollector):
    # One request at a time deletes and reads files.
    _lock = threading.Lock()

    def collect(self) -> Iterable[Metric]:
        with self._lock:
            for path in Path(self._path).glob("gauge_live*.db"):
                if not _is_alive(process := _process_of(path)):
                    mark_process_dead(process, self._path)
            yield from super().collect()
        labels = {
            "version": settings.VERSION,
            "commit": settings.COMMIT,
            "python": platform.python_version(),
            "django": django.__version__,
        }
        text = "Always 1; labels identify the running version."
        info = GaugeMetricFamily("emailvalidation_build_info", text, labels=tuple(labels))
        info.add_metric(list(labels.values()), 1)
        yield info


class _Server(ThreadingWSGIServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that disconnect during a response."""


class _Handler(WSGIRequestHandler):
    timeout = 10

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Keep scrapes out of the access log."""


def start_exporter(address: tuple[str, int]) -> None:
    settings.METRICS_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    registry = CollectorRegistry()
    MetricsCollector(registry, str(settings.METRICS_DIR))
    show_metrics = make_wsgi_app(registry)

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/metrics":
            start_response("404 Not Found", [])
            return []
        body: list[bytes] = show_metrics(environ, start_response)
        return body

    host, port = address
    if ":" in host:
        _Server.address_family = AF_INET6
    try:
        server = make_server(host, port, application, _Server, _Handler)
    except OSError as error:
        raise CommandError(
            f"Can't serve metrics on {host}, port {port}: {error.strerror}."
        ) from error
    threading.Thread(target=server.serve_forever, daemon=True).start()


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
