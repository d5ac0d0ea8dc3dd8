"""Production's settings for transport, cookies and headers, for tests that run in-process.

Production needs PostgreSQL and a mail server, which these tests don't start. A separate process
loads the production settings, and only those that affect pages are returned.
"""

import json
from functools import cache
from typing import Any

from tests.servers.production import ENVIRONMENT
from tests.servers.programs import run_program

HOST = ENVIRONMENT["ALLOWED_HOSTS"]
URL = ENVIRONMENT["BASE_URL"]
_PREFIXES = (
    *("SECURE_", "SESSION_COOKIE_", "CSRF_COOKIE_", "X_FRAME_", "CONTENT_SECURITY_"),
    *("BASE_URL", "BASE_HOST", "ALLOWED_HOSTS", "TRUSTED_PROXIES", "PRODUCTION", "HTTPS"),
    "SUPPORT_EMAIL",
    "STAFF_NEED_SECOND_FACTOR",
)
_SCRIPT = f"""
import json, config.settings as all
print(json.dumps({{n: getattr(all, n) for n in dir(all) if n.startswith({_PREFIXES})}}))
"""


@cache
def read_page_settings() -> dict[str, Any]:
    process = run_program("-c", _SCRIPT, **ENVIRONMENT)
    settings: dict[str, Any] = json.loads(process.stdout)
    settings["SECURE_PROXY_SSL_HEADER"] = tuple(settings["SECURE_PROXY_SSL_HEADER"])
    return settings
