"""What the web server refuses before Django sees it, in the shape of every other refusal."""

import logging

from django.conf import settings
from django.http import HttpRequest

from accounts import ids, tracing
from accounts.network import client_address
from apikeys import limits
from apikeys.answers import limit_headers, refuse
from apikeys.errors import ApiError

logger = logging.getLogger("api")


def raw_refusal(error: ApiError, peer: str, reason: str) -> bytes:
    """A whole HTTP answer. The connection ends with it: where a next request begins is unknown."""
    address = client_address({"REMOTE_ADDR": peer}, 0)
    usage = limits.look(HttpRequest(), limits.address_bucket(address))
    request_id = ids.request_id()
    tracing.request_id.set(request_id)
    logger.info("- - %s %s - %s: %s", error.status, error.code, address, reason)
    response = refuse(error, request_id)
    headers = {
        **response.headers,
        **limit_headers(usage, response.status_code),
        "X-Request-Id": request_id,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": settings.SECURE_REFERRER_POLICY,
        "Cross-Origin-Opener-Policy": settings.SECURE_CROSS_ORIGIN_OPENER_POLICY,
        "Cross-Origin-Resource-Policy": "same-origin",
        "Connection": "close",
    }
    if settings.SECURE_HSTS_SECONDS:
        lasting = f"max-age={settings.SECURE_HSTS_SECONDS}; includeSubDomains; preload"
        headers["Strict-Transport-Security"] = lasting
    lines = [f"HTTP/1.1 {response.status_code} {response.reason_phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + response.content
