"""Write the types of both clients: `python -m tools.client_types`."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tools.client_types.python import write_python
from tools.client_types.typescript import write_typescript

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    ROOT / "clients/python/src/emailvalidation/types.py": write_python,
    ROOT / "clients/typescript/src/types.ts": write_typescript,
}
PRINT_DOCUMENT = """
import sys
from apikeys.rest.reference import openapi_document
sys.stdout.buffer.write(openapi_document())
"""
# The document has all fields only where mailbox checks are on.
SETTINGS = {
    "PROBE_MAILBOX_CHECKS": "on",
    "PROBE_DOMAIN": "probe.example.com",
    "PROBE_SENDER": "check@probe.example.com",
}


def write_all() -> dict[Path, str]:
    """Return the text of each file."""
    process = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", PRINT_DOCUMENT],
        cwd=ROOT,
        env={**os.environ, **SETTINGS},
        check=True,
        stdout=subprocess.PIPE,
    )
    document = json.loads(process.stdout)
    return {file: write(document) for file, write in FILES.items()}


if __name__ == "__main__":
    for file, text in write_all().items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
