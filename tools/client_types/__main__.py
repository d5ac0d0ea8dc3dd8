"""Write the types of both clients: `python -m tools.client_types`."""

import os
from pathlib import Path

import django

from tools.client_types.python import write_python
from tools.client_types.typescript import write_typescript

CLIENTS = Path(__file__).resolve().parents[2] / "clients"
FILES = {
    CLIENTS / "python/src/emailvalidation/types.py": write_python,
    CLIENTS / "typescript/src/types.ts": write_typescript,
}
# The document has all fields only where mailbox checks are on.
SETTINGS = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "PROBE_MAILBOX_CHECKS": "on",
    "PROBE_DOMAIN": "probe.example.com",
    "PROBE_SENDER": "check@probe.example.com",
}


def write_all() -> dict[Path, str]:
    """Return the text of each file."""
    os.environ |= SETTINGS
    django.setup()
    from apikeys.rest.reference import parse_document

    document = parse_document()
    return {file: write(document) for file, write in FILES.items()}


if __name__ == "__main__":
    for file, text in write_all().items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
