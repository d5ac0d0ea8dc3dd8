import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from runtime.management.base import ProductCommand
from runtime.metrics.exporter import start_exporter


class Command(ProductCommand):
    help = "Serves metrics until stopped, in containers without a background worker."

    def handle(self, **_: Any) -> None:
        if settings.METRICS_ADDRESS is None:
            raise CommandError("Set METRICS_PORT to the port to serve metrics on.")
        stop = threading.Event()
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: stop.set())
        start_exporter(settings.METRICS_ADDRESS)
        stop.wait()
