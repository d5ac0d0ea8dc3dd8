"""Import libraries without optional packages that the product doesn't use.

Libraries import optional packages wherever these are installed, and other dependencies of ours
install them. Django REST framework imports requests for its test client, Pygments for its browsable
API, and psycopg (through django.contrib.postgres) for fields of PostgreSQL. Without them a web
worker needs 8 MB less memory, 16 MB less on SQLite, and loading the URL table takes a fifth less
CPU. redis imports OpenTelemetry's SDK for metrics of its own: another 3 MB. config/urls.py imports
this module before any view.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import cast

from django.conf import settings

UNUSED = ("requests", "pygments", "django.contrib.postgres")


def _import_without(module: str, unused: tuple[str, ...]) -> None:
    # None makes `import` raise ImportError, which the type of sys.modules doesn't know.
    modules = cast(dict[str, ModuleType | None], sys.modules)
    hidden = [name for name in unused if name not in modules]
    modules.update(dict.fromkeys(hidden))
    try:
        import_module(module)
    finally:
        for name in hidden:
            del modules[name]


_import_without("rest_framework.compat", UNUSED)
if settings.REDIS_URL:
    _import_without("redis", ("opentelemetry",))
