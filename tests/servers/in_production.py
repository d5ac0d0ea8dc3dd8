"""What of the settings is about pages, as production has it, for tests inside one process.

Production takes PostgreSQL and a mail server, which most tests need not start. So its settings are
read in a process of their own, and those about transport, cookies and headers are taken over.
"""

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

from tests.servers.product import ROOT
from tests.servers.production import ENVIRONMENT

HOST = ENVIRONMENT["ALLOWED_HOSTS"]
URL = ENVIRONMENT["BASE_URL"]
_ABOUT_PAGES = (
    *("SECURE_", "SESSION_COOKIE_", "CSRF_COOKIE_", "X_FRAME_", "CONTENT_SECURITY_"),
    *(
        "BASE_URL",
        "BASE_HOST",
        "ALLOWED_HOSTS",
        "TRUSTED_PROXIES",
        "PRODUCTION",
        "HTTPS",
        "SUPPORT_EMAIL",
    ),
    "STAFF_NEED_SECOND_FACTOR",
)
_SCRIPT = f"""
import json, config.settings as all
print(json.dumps({{n: getattr(all, n) for n in dir(all) if n.startswith({_ABOUT_PAGES})}}))
"""


@cache
def page_settings() -> dict[str, Any]:
    environment = {"PATH": os.environ["PATH"], **ENVIRONMENT}
    command = [sys.executable, "-c", _SCRIPT]
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    read: dict[str, Any] = json.loads(ended.stdout)
    return {name: tuple(v) if name == "SECURE_PROXY_SSL_HEADER" else v for name, v in read.items()}
