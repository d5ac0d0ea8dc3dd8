"""Google and GitHub on loopback: the page that asks for consent, tokens, and what they know."""

import hashlib
import json
import threading
import time
from base64 import urlsafe_b64encode
from contextlib import closing
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt

from tests.servers.quiet_handler import QuietHandler

CREDENTIALS = {
    "GOOGLE_CLIENT_ID": "google-client",
    "GOOGLE_CLIENT_SECRET": "google-secret-invented",
    "GITHUB_CLIENT_ID": "github-client",
    "GITHUB_CLIENT_SECRET": "github-secret-invented",
}
ISSUER = "https://accounts.google.com"


@dataclass(frozen=True)
class Person:
    email: str
    id: str = "1001"
    is_verified: bool = True
    username: str = "octo"


class IdentityProvider:
    """Both providers. The next person at its page is `person`."""

    def __init__(self) -> None:
        self.person = Person("jane@shop.example")
        self.is_down = False
        # By code: the parameters of the request for it, and who consented.
        self._grants: dict[str, tuple[dict[str, str], Person]] = {}
        self._tokens: dict[str, Person] = {}
        self.token_requests: list[dict[str, str]] = []
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"provider": self})
        )
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def consent(self, authorize_url: str) -> str:
        """Return the URL to which the person is sent back."""
        params = _flat(urlsplit(authorize_url).query)
        code = f"code-{len(self._grants)}"
        self._grants[code] = params, self.person
        query = urlencode({"code": code, "state": params["state"]})
        return f"{params['redirect_uri']}?{query}"

    def cancel(self, authorize_url: str) -> str:
        params = _flat(urlsplit(authorize_url).query)
        query = urlencode({"error": "access_denied", "state": params["state"]})
        return f"{params['redirect_uri']}?{query}"

    def exchange(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """Return tokens for a code, once, if the secret and PKCE's verifier fit."""
        self.token_requests.append(form)
        params, person = self._grants.pop(form.get("code", ""), ({}, None))
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = urlsafe_b64encode(digest).decode().rstrip("=")
        secrets = {
            CREDENTIALS[f"{name}_CLIENT_ID"]: CREDENTIALS[f"{name}_CLIENT_SECRET"]
            for name in ("GOOGLE", "GITHUB")
        }
        if (
            person is None
            or self.is_down
            or params.get("code_challenge") != challenge
            or params["redirect_uri"] != form["redirect_uri"]
            or secrets.get(form.get("client_id", "")) != form.get("client_secret")
        ):
            return 400, {"error": "invalid_grant"}
        token = f"token-of-{person.id}-{len(self._tokens)}"
        self._tokens[token] = person
        claims = {
            "iss": ISSUER,
            "aud": form["client_id"],
            "sub": person.id,
            "exp": int(time.time()) + 300,
            "email": person.email,
            "email_verified": person.is_verified,
        }
        id_token = jwt.encode(claims, "x" * 32, algorithm="HS256")
        return 200, {"access_token": token, "token_type": "bearer", "id_token": id_token}

    def describe(self, path: str, token: str) -> tuple[int, Any]:
        """Return GitHub's profile or addresses of the person."""
        person = self._tokens.get(token)
        if person is None:
            return 401, {}
        if path.endswith("/emails"):
            other = {"email": "old@shop.example", "primary": False, "verified": True}
            own = {"email": person.email, "primary": True, "verified": person.is_verified}
            return 200, [other, own]
        return 200, {"id": int(person.id), "login": person.username, "email": None, "bio": "Hello"}


class _Handler(QuietHandler):
    provider: IdentityProvider

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path.startswith("/api/"):
            token = self.headers.get("Authorization", "").rpartition(" ")[2]
            self._send(*self.provider.describe(path, token))
            return
        back, away = self.provider.consent(self.path), self.provider.cancel(self.path)
        page = f"""<!doctype html><html lang="en"><title>Provider</title>
<a href="{back}">Continue as {self.provider.person.email}</a> <a href="{away}">Cancel</a>"""
        self.reply(200, "text/html", page.encode())

    def do_POST(self) -> None:
        self._send(*self.provider.exchange(_flat(self.read_body().decode())))

    def _send(self, status: int, value: Any) -> None:
        self.reply(status, "application/json", json.dumps(value).encode())


def _flat(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query).items()}


def identity_provider() -> closing[IdentityProvider]:
    return closing(IdentityProvider())
