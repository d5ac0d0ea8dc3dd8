import logging
import ssl
import time
from datetime import datetime
from functools import cache
from http.client import HTTPException, HTTPResponse
from io import BufferedReader, RawIOBase
from socket import socket
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils import timezone
from gevent import Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as UrllibTimeout

from accounts.models import Delivery, DeliveryAttempt, Event
from accounts.webhooks.keys import sign
from accounts.webhooks.targets import RefusedTarget, Target, TargetUnresolved, resolve

logger = logging.getLogger(__name__)

# For all of an attempt. It ends slow responses only in a process that gevent has patched.
ATTEMPT_SECONDS = 15
MAX_READ_BYTES, MAX_STORED_BYTES = 64 * 1024, 1024
# With headers and the lengths of chunks.
MAX_RECEIVED_BYTES = 4 * MAX_READ_BYTES
# What DeliveryAttempt.error means.
ERRORS = {
    "timeout": "No complete response within 15 seconds",
    "connection_failed": "The connection failed",
    "tls": "The TLS handshake failed, or the certificate isn't valid for the host",
    "dns": "The DNS returned no address for the host",
    "refused_target": "The URL leads to an address that webhooks aren't sent to",
    "redirect": "The response was a redirect, which isn't followed",
    "status": "The response's status wasn't 2xx",
    "incomplete": "The response ended early or wasn't valid HTTP",
    "internal": "An error on our side",
}


def send(delivery: Delivery) -> DeliveryAttempt:
    """Return an attempt that has been made, but isn't saved. It doesn't use the database."""
    # Its error is empty after a success.
    attempt = DeliveryAttempt(delivery=delivery, at=timezone.now(), error="connection_failed")
    started = time.monotonic()
    try:
        with Timeout(ATTEMPT_SECONDS):
            _post(attempt)
    except NewConnectionError:
        # A kind of UrllibTimeout. The error is set already, as below.
        pass
    except (Timeout, TimeoutError, UrllibTimeout):
        attempt.error = "timeout"
    except RefusedTarget:
        attempt.error = "refused_target"
    except TargetUnresolved:
        attempt.error = "dns"
    except ssl.SSLError:
        attempt.error = "tls"
    except (OSError, HTTPException, HTTPError):
        # The error says how far the attempt came.
        pass
    except Exception:
        # http.client also raises ValueError about what it can't parse.
        if attempt.error != "incomplete":
            logger.exception("Sending a webhook failed")
            attempt.error = "internal"
    attempt.duration_ms = int(1000 * (time.monotonic() - started))
    return attempt


class _LimitedFile(RawIOBase):
    def __init__(self, connection: socket) -> None:
        self._file, self._left = connection.makefile("rb", buffering=0), MAX_RECEIVED_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if not self._left:
            raise HTTPException("The response is too long")
        received = self._file.readinto(memoryview(buffer)[: self._left])
        self._left -= received or 0
        return received

    def close(self) -> None:
        self._file.close()
        super().close()


class _LimitedResponse(HTTPResponse):
    """Bound what http.client reads without a limit: 1xx responses, chunks of length -1, trailers.

    While a receiver sends faster than they are parsed, no other greenlet runs, not even Timeout's.
    """

    def __init__(self, sock: socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = BufferedReader(_LimitedFile(sock))


def event_headers(event: Event, at: datetime, signature: str) -> dict[str, str]:
    return {
        "User-Agent": f"Email-Validation-Webhooks/{settings.VERSION}",
        "Content-Type": "application/json",
        "webhook-id": event.public_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signature,
    }


def _post(attempt: DeliveryAttempt) -> None:
    delivery, event = attempt.delivery, attempt.delivery.event
    body = event.body.encode()
    timestamp = int(attempt.at.timestamp())
    attempt.signature = sign(
        delivery.endpoint, message_id=event.public_id, timestamp=timestamp, body=body
    )
    target = resolve(delivery.endpoint.url)
    headers = {
        "Host": target.host_header,
        "Connection": "close",
        **event_headers(event, attempt.at, attempt.signature),
    }
    connection = _open_connection(target)
    try:
        connection.connect()
        attempt.error = "incomplete"
        connection.request("POST", target.path, body, headers, preload_content=False)
        response = connection.getresponse()
        attempt.status = response.status
        attempt.retry_after = response.headers.get("Retry-After", "")
        data = b""
        # Compressed responses are not decompressed.
        while chunk := response.read(MAX_READ_BYTES - len(data), decode_content=False):
            data += chunk
        text = data[:MAX_STORED_BYTES].decode(errors="replace")
        attempt.response = "".join(
            letter if letter.isprintable() or letter in "\n\t" else "\ufffd" for letter in text
        )
        is_redirect, is_success = response.status // 100 == 3, response.status // 100 == 2
        attempt.error = "" if is_success else "redirect" if is_redirect else "status"
        response.close()
    finally:
        connection.close()


def _open_connection(target: Target) -> HTTPConnection:
    host, port = target.address, target.port
    if settings.WEBHOOK_PROXY:
        proxy = urlsplit(settings.WEBHOOK_PROXY)
        host, port = proxy.hostname or "", proxy.port or 80
    if target.is_https:
        connection: HTTPConnection = HTTPSConnection(
            host,
            port,
            timeout=ATTEMPT_SECONDS,
            ssl_context=_tls_context(),
            server_hostname=target.host,
        )
    else:
        connection = HTTPConnection(host, port, timeout=ATTEMPT_SECONDS)
    connection.response_class = _LimitedResponse
    if settings.WEBHOOK_PROXY:
        connection.set_tunnel(target.address, target.port)
    return connection


# With TLS 1.2 or newer.
_tls_context = cache(ssl.create_default_context)
