"""Prepare `make serve` in another process: the supervisor stays without Django's memory."""

import errno
import socket
import sys

from django.conf import settings

from config.server.prepare import load_settings, prepare
from runtime.logging.formatters import log_uncaught


def main() -> None:
    load_settings()
    log_uncaught()
    _refuse_taken_ports()
    prepare()


def _refuse_taken_ports() -> None:
    """Exit before anything is created. The children would be restarted forever."""
    port = settings.PORT
    if error := _bind_error("127.0.0.1", port):
        reason = "is in use" if error.errno == errno.EADDRINUSE else f"fails: {error.strerror}"
        other_port = port + 1 if 1024 <= port < 65535 else 8000
        sys.exit(
            f"Port {port} {reason}. Stop the program that uses it, or choose another port: "
            f"PORT={other_port} make serve"
        )
    if settings.METRICS_ADDRESS and (error := _bind_error(*settings.METRICS_ADDRESS)):
        host, port = settings.METRICS_ADDRESS
        sys.exit(
            f"Can't serve metrics on {host}, port {port}: {error.strerror}. Stop the program that "
            "uses the port, or set METRICS_PORT to another one."
        )


def _bind_error(host: str, port: int) -> OSError | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        return error
    return None


if __name__ == "__main__":
    main()
