"""Write the types of both clients: `python -m tools.client_types`."""

import os
from pathlib import Path

# The document has all fields only where mailbox checks are on.
os.environ |= {"PROBE_MAILBOX_CHECKS": "on", "PROBE_DOMAIN": "probe.example.com"}
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PROBE_SENDER", "check@probe.example.com")

import django

django.setup()

from apikeys.rest.reference import parse_document
from tools.client_types.python import write_python
from tools.client_types.typescript import write_typescript

CLIENTS = Path(__file__).resolve().parents[2] / "clients"
FILES = {
    CLIENTS / "python/src/emailvalidation/types.py": write_python,
    CLIENTS / "typescript/src/types.ts": write_typescript,
}

if __name__ == "__main__":
    document = parse_document()
    for file, write in FILES.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(write(document))
