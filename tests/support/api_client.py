"""A client that calls the API inside the test process."""

import json
from typing import Any
from urllib.parse import urlencode

from django.test import Client

JSON = "application/json"


class ApiClient:
    def __init__(self, secret: str | None = None, ip: str = "198.51.100.7") -> None:
        self.secret = secret
        self.client = Client(raise_request_exception=False, REMOTE_ADDR=ip)

    def call(self, method: str, path: str, body: bytes = b"", **headers: Any) -> Any:
        if self.secret is not None:
            headers.setdefault("Authorization", f"Bearer {self.secret}")
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        content_type = headers.pop("Content-Type", JSON)
        send: Any = self.client.generic
        # Django's client omits the content type when a request has no body.
        return send(method, path, body, content_type, headers=headers, CONTENT_TYPE=content_type)

    def get(self, path: str, **headers: Any) -> Any:
        return self.call("GET", path, **headers)

    def send_json(self, method: str, path: str, document: Any = None, **headers: str) -> Any:
        body = b"" if document is None else json.dumps(document).encode()
        return self.call(method, path, body, **headers)

    def validate_batch(self, emails: Any, **headers: str) -> Any:
        return self.send_json("POST", "/v1/validate/batch", {"emails": emails}, **headers)

    def validate(self, email: Any = "jane@shop.example", **headers: str) -> Any:
        return self.send(json.dumps({"email": email}).encode(), **headers)

    def send(self, body: bytes, **headers: str) -> Any:
        return self.call("POST", "/v1/validate", body, **headers)


def read_all(
    caller: ApiClient, path: str, cursor: str = "starting_after", **query: object
) -> list[str]:
    """Return the ids on all pages of two."""
    ids: list[str] = []
    while True:
        page = caller.get(f"{path}?{urlencode({'limit': 2, **query})}").json()
        ids += [row["id"] for row in page["data"]]
        assert page["next"] == (ids[-1] if page["has_more"] else None)
        if not page["has_more"]:
            return ids
        assert len(page["data"]) == 2
        query[cursor] = page["next"]


def refusal(response: Any) -> tuple[int, str, str | None]:
    """Return the status, the code, and the name of the parameter."""
    return response.status_code, error_code(response), response.json()["error"]["param"]


def error_code(response: Any) -> str:
    assert response.headers["Content-Type"] == JSON, response.content[:200]
    return str(response.json()["error"]["code"])
