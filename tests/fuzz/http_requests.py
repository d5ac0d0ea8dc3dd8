"""Strategies for raw HTTP requests that are mostly valid, with a few faults."""

import json
import re
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.fuzz.addresses import addresses

METHODS = (
    *("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY"),
    *("PROPFIND", "BREW", "get", "X" * 30, "M-SEARCH"),
)
PATHS = (
    *("/v1/validate", "/v1/validate/", "/v1/credits", "/v1/usage", "/v1/me", "/v1/nothing", "/v1"),
    *("/v1/", "//v1/me", "/v1//me", "/v1/../v1/me", "/v1/%2e%2e/me", "/v1/me%00", "/v1/me;a=b"),
    *("/v1/validate%0d%0aX: y", "/V1/me", "/v1/%ff", "/v1/me#a", "/", "/docs/", "/docs/api/"),
    *("/docs/openapi.json", "/accounts/login/", "/admin/", "/credits/stripe/", "/static/../", "*"),
    *("/accounts/signup/", "/static/base.css", "/validation/", "/favicon.ico", "/v1/" + "a" * 3000),
)
QUERIES = (
    *("", "", "", "?key=svc_live_x", "?since=2026-01-01&until=2026-02-01", "?by=hour"),
    "?format=api",
    *("?since=0001-01-01", "?until=9999-12-31", "?key=playground", "?since=%00", "?a[]=1&a[]=2"),
    *(
        "?%ff=%ff",
        "?_method=DELETE",
        "?next=//evil.example",
        "?" + "a=1&" * 900,
        "?since=2026-02-30",
    ),
)
# `{key}` is replaced by the caller's key.
VALUES = {
    "Authorization": (
        *("Bearer {key}", "Bearer {key}", "bearer {key}", "Bearer  {key}", "Bearer {key} x"),
        "{key}",
        *(
            "Bearer {key}x",
            "Basic dTpw",
            "Bearer",
            "Bearer svc_live_" + "A" * 38,
            "Token {key}",
            "",
        ),
        *("Bearer {key}, Bearer {key}", "Bearer \xff", "Digest username=x", "Bearer " + "a" * 4000),
    ),
    "Content-Type": (
        *("application/json", "application/json", "application/json; charset=utf-8", "text/plain"),
        *("application/json; charset=utf-16", "application/json; charset=x\xe9", "application/xml"),
        *("multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "", "/"),
        "\x7f;;=;",
        *("application/json; charset*=utf-8''%ff", "application/json, text/plain", "a" * 5000),
    ),
    "Accept": (
        *("*/*", "application/json", "text/html", "application/*;q=0", "*/*;q=0", "a/b, */*;q=0.1"),
        *(";;;", "application/json;q=é", "," * 2000, "application/json; version=9"),
    ),
    "Host": (
        *("127.0.0.1", "127.0.0.1", "localhost:1", "evil.example", "", "[::1]", "[::1"),
        "127.0.0.1:x",
        *("127.0.0.1\t", "127.0.0.1, evil.example", "127.0.0.1:99999", "a" * 3000, "\xff", "127.1"),
    ),
    "Content-Length": (
        *("0", "5", "-1", "+5", "0x5", "5, 5", "9" * 30, "8193", "1e3", "", "٥", "4194304"),
    ),
    "Transfer-Encoding": (
        *("chunked", "chunked", "gzip", "chunked, chunked", "xchunked", " chunked", ""),
    ),
    "Idempotency-Key": ("a", "b", "x" * 255, "x" * 256, "", "é", "a b", "a,b", "{key}"),
    "X-Forwarded-For": ("1.2.3.4", "::1, 1.2.3.4", "x", ",", "127.0.0.1" * 400, "[::]:1"),
    "X-Forwarded-Proto": ("https", "http", "x", ""),
    "Origin": ("https://evil.example", "null", ""),
    "Cookie": (
        "session=x",
        "csrf=x; session=" + "a" * 4000,
        "=;;=",
        "session=\xff",
        "session={key}",
    ),
    "X-Request-Id": ("client-id_123", "x", "{key}", "a" * 65, "é" * 9, "\x85" * 8),
    "Connection": ("close", "keep-alive", "upgrade", "close, keep-alive", "Authorization"),
    "Expect": ("100-continue", "a-miracle", ""),
    "Content-Encoding": ("gzip", "identity", "br"),
    "X_Request_Id": ("under_score",),
}
VERSIONS = ("HTTP/1.1",) * 6 + ("HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/9", "")
BODIES = (
    *(
        *(b"", b"{}", b"[]", b"null"),
        b'{"email": null}',
        b'{"email": 1e999}',
        b'{"email": "a\\u0000b"}',
    ),
    *(b'{"email": "jane@shop.com"}', b'{"email": "no address"}', b'{"email":"risky@sandbox.test"}'),
    b'{"email": "unknown@sandbox.test"}',
    *(
        b'{"email": "jane@shop.com", "email": "x"}',
        b'{"email": "\\ud800"}',
        b"[" * 8000,
        b"\xff\xfe",
    ),
    *(
        b'{"email": "jane@shop.com"',
        b'{"email": "jane@silent.com", "x": 1}',
        b'"' * 8192,
        b" " * 9000,
    ),
    *(b'{"email": "' + b"a" * 320 + b'"}', b'{"email": "' + b"a" * 321 + b'"}', b"x" * 9000),
)


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    version: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    is_chunked: bool

    def with_header(self, name: str, value: str) -> "Request":
        return replace(self, headers=(*self.headers, (name, value)))

    def wire(self, key: str) -> bytes:
        headers = [(name, value.replace("{key}", key)) for name, value in self.headers]
        names = {name.lower() for name, _ in headers}
        body = self.body
        if self.is_chunked and "transfer-encoding" not in names:
            headers.append(("Transfer-Encoding", "chunked"))
        elif "content-length" not in names and (body or self.method == "POST"):
            headers.append(("Content-Length", str(len(body))))
        if self.is_chunked:
            body = b"".join((b"%x\r\n%s\r\n" % (len(body), body) if body else b"", b"0\r\n\r\n"))
        lines = [f"{self.method} {self.target} {self.version}"]
        lines += [f"{name}: {value}" for name, value in headers]
        return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace") + body


def is_api_path(target: str) -> bool:
    return re.match(r"/v1([/?#]|$)", target) is not None


def _encode_json(email: str, name: str) -> bytes:
    return json.dumps({name: email}, ensure_ascii=len(email) % 2 == 0).encode("utf-8", "replace")


any_header = st.sampled_from(sorted(VALUES)).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(VALUES[name]))
)
usual = st.fixed_dictionaries(
    {
        "Host": st.just("127.0.0.1"),
        "Authorization": st.sampled_from(VALUES["Authorization"][:3]),
        "Content-Type": st.just("application/json"),
    }
)


def _merge_headers(
    usual: dict[str, str], odd: list[tuple[str, str]]
) -> tuple[tuple[str, str], ...]:
    """Let the first odd header replace a usual one of the same name, and add the others."""
    unchanged = [(name, value) for name, value in usual.items() if name not in dict(odd[:1])]
    return (*unchanged, *odd)


bodies = st.one_of(
    st.sampled_from(BODIES),
    st.builds(_encode_json, addresses.map(lambda email: email[:330]), st.just("email")),
    st.binary(max_size=60),
)
requests = st.builds(
    Request,
    st.sampled_from(("POST",) * 8 + ("GET",) * 5 + METHODS),
    st.builds(
        "".join,
        st.tuples(st.sampled_from(("/v1/validate",) * 12 + PATHS), st.sampled_from(QUERIES)),
    ),
    st.sampled_from(VERSIONS),
    st.builds(_merge_headers, usual, st.lists(any_header, max_size=3)),
    bodies,
    st.sampled_from([False, False, False, True]),
)
valid_calls = st.builds(
    Request,
    st.just("POST"),
    st.just("/v1/validate"),
    st.just("HTTP/1.1"),
    st.builds(lambda headers: tuple(headers.items()), usual),
    st.sampled_from(BODIES[7:10]),
    st.booleans(),
)
