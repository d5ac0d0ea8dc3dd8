"""The image's health check: /healthz responds, or the role has no web server.

It runs every few seconds, so it imports little. Whether other roles respond isn't visible from
outside: the container ends when their process does.
"""

import os
import sys
from http.client import HTTPConnection, HTTPException
from pathlib import Path

ENTRY_POINT = "/srv/email-validation/deploy/container/entrypoint"
WEB_ROLES = ("serve", "api", "bulk", "pages")


def find_role(command_line: str) -> str:
    """Return the role from the command line of the container's first process."""
    arguments = command_line.rstrip("\0").split("\0")
    after = arguments[arguments.index(ENTRY_POINT) + 1 :]
    return after[0] if after else "serve"


def is_healthy(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=3)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    role = find_role(Path("/proc/1/cmdline").read_text())
    port = int(os.environ.get("PORT", "") or 8000)
    sys.exit(0 if role not in WEB_ROLES or is_healthy(port) else 1)
