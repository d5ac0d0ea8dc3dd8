import os
from typing import Any

import django
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest, get_path_info
from django.db import connections
from django.urls import get_resolver

from apikeys.rest.paths import is_api_path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("SERVES_WEB", "on")


class Request(WSGIRequest):
    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        """Django raises on an odd parameter, before any middleware of ours could answer.

        It also decodes a form in the charset that the client names, and some make lone surrogates,
        which cannot be hashed or stored. No browser names one (RFC 7578, 4.6): forms are UTF-8.
        """
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]
        except ValueError:
            self.content_type, self.content_params = "", {}
        self._encoding = None


class Application(WSGIHandler):
    """What Django does around the middleware of each request is for pages: signals, the prefix of a
    script, the URLs of a thread, cookies and files. For a request of the API that is a fifth of
    what it costs, so it goes without."""

    request_class = Request

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        if is_api_path(get_path_info(environ)):
            return self._answer_api(environ, start_response)
        return super().__call__(environ, start_response)

    def _answer_api(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        try:
            response = self._middleware_chain(self.request_class(environ))  # type: ignore[attr-defined]
        finally:
            # Before the answer leaves: a client who reads slowly keeps no connection from others.
            for connection in connections.all(initialized_only=True):
                connection.close_if_unusable_or_obsolete()
        start_response(f"{response.status_code} {response.reason_phrase}", [*response.items()])
        return [response.content]


django.setup(set_prefix=False)
application = Application()
# Loaded now, or each worker's first caller would wait for it.
_ = get_resolver().url_patterns
