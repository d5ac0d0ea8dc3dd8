import os
from typing import Any

import django
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("SERVES_WEB", "on")


class Request(WSGIRequest):
    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        """Django raises on an odd parameter, before any middleware of ours could answer."""
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]
        except ValueError:
            self.content_type, self.content_params = "", {}


class Application(WSGIHandler):
    request_class = Request


django.setup(set_prefix=False)
application = Application()
# Loaded now, or each worker's first caller would wait for it.
_ = get_resolver().url_patterns
