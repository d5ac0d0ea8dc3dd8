"""Requests to the proxies, and what every response that they make themselves has."""

import json
import re
import time

from config.settings.content_security_policy import PERMISSIONS_HEADER
from tests.servers.raw_http import RawResponse, assert_api_error
from tests.servers.reverse_proxy import NAME

BODY = b'{"email": "deliverable@sandbox.test"}'
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
STYLES = "/front/css/base.css"


def get(path: str, *headers: str, method: str = "GET") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {NAME}", *headers, "Connection: close"]
    return "\r\n".join([*lines, "", ""]).encode()


def validate(secret: str, *headers: str, body: bytes = BODY) -> bytes:
    key, kind = f"Authorization: Bearer {secret}", "Content-Type: application/json"
    if not any("Transfer-Encoding" in header for header in headers):
        headers = (*headers, f"Content-Length: {len(body)}")
    return get("/v1/validate", key, kind, *headers, method="POST") + body


def only(responses: list[RawResponse]) -> RawResponse:
    (response,) = responses
    return response


def read_error(response: RawResponse) -> dict[str, object]:
    error: dict[str, object] = json.loads(response.body)["error"]
    return error


def assert_proxy_error(response: RawResponse, code: str) -> None:
    """Check an error of the API that a proxy made, with the headers that every response has."""
    assert_api_error(response, code)
    error, headers = json.loads(response.body)["error"], response.headers
    assert error["doc_url"] == f"https://{NAME}/docs/errors/#{code}"
    assert re.fullmatch(r"req_\w{20}", error["request_id"])
    assert time.time() + 50 <= int(headers["X-RateLimit-Reset"]) <= time.time() + 161
    assert re.fullmatch(r'"address";r=\d+;t=60', headers["RateLimit"])
    assert re.fullmatch(r'"address";q=\d+;w=60', headers["RateLimit-Policy"])
    assert_security_headers(headers)


def assert_error_page(response: RawResponse, title: str) -> None:
    text, headers = response.body.decode(), response.headers
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert f"<h1>{title}</h1>" in text
    assert f"<code>{headers['X-Request-Id']}</code>" in text
    assert f'<p class="error-page-status">{response.status}</p>' in text
    assert headers["Strict-Transport-Security"].startswith("max-age=63072000")
    assert not re.search(r"<script|<style|style=|<!--", text)
    assert_security_headers(headers)


def assert_security_headers(headers: dict[str, str]) -> None:
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; ")
    assert headers["Permissions-Policy"] == PERMISSIONS_HEADER
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    for name in ("Referrer-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy"):
        assert headers[name] == "same-origin"
