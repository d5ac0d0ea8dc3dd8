"""Malformed and smuggled requests, each of which must get exactly one refusal."""

from tests.servers.reverse_proxy import NAME

# Well-formed, but of no account.
WRONG_KEY = "svc_live_" + "x1Y2" * 9 + "zz"
HOST = f"Host: {NAME}\r\n".encode()
CLOSE = b"Connection: close\r\n"

# Requests that a reverse proxy and the product might parse differently.
SMUGGLED = {
    "length and chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "two lengths in one": b"Content-Length: 5, 5\r\n\r\nhello",
    "a length of +5": b"Content-Length: +5\r\n\r\nhello",
    "a length of 0x5": b"Content-Length: 0x5\r\n\r\nhello",
    "a length of -1": b"Content-Length: -1\r\n\r\n",
    "an odd coding": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a coding before chunked": b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunked twice": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "identity after chunked": (
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"
    ),
    "a space before the colon": b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a line folded": b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "a control character": b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "a lone carriage return": b"X-A: b\rTransfer-Encoding: chunked\r\n\r\n",
    "a chunk of an odd size": b"Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
    "a chunk without its end": b"Transfer-Encoding: chunked\r\n\r\n5\r\nhelloworld\r\n0\r\n\r\n",
}
UNREADABLE = {
    "no HTTP": b"GARBAGE\r\n\r\n",
    "binary": bytes(range(1, 256)) + b"\r\n\r\n",
    "an unknown version": b"GET /v1/me HTTP/9.9\r\n" + HOST + b"\r\n",
    "a method in lower case": b"get /v1/me HTTP/1.1\r\n" + HOST + b"\r\n",
    "no host": b"GET /v1/me HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /v1/me HTTP/1.1\r\n" + HOST + b"Host: evil.example\r\n\r\n",
    "another host": b"GET /v1/me HTTP/1.1\r\nHost: evil.example\r\n" + CLOSE + b"\r\n",
    "a target of another host": (
        b"GET http://evil.example/v1/me HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n"
    ),
    "a secret in the first line": f"GET /v1/{WRONG_KEY} HTTP/x.y\r\n\r\n".encode(),
    "a target of 20,000 characters": b"GET /v1/" + b"a" * 20_000 + b" HTTP/1.1\r\n" + HOST,
    "a header of 20,000 characters": (
        b"GET /v1/me HTTP/1.1\r\n" + HOST + b"A: " + b"b" * 20_000 + b"\r\n\r\n"
    ),
    "headers of 60,000 characters": (
        b"GET /v1/me HTTP/1.1\r\n" + HOST + (b"A: " + b"b" * 2000 + b"\r\n") * 30 + b"\r\n"
    ),
}
