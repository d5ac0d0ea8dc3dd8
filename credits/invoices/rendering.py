"""Render an invoice as PDF.

Shaping and embedding fonts takes up to a second of CPU time, and tens of megabytes. A process of
its own takes them, at a low priority, so that no other request of a web worker waits.
"""

import os
import subprocess
import sys
import threading
from functools import lru_cache
from pathlib import Path

import orjson

from credits.invoices.text import InvoiceText

_COMMAND = (sys.executable, "-m", "credits.invoices")
_ROOT = Path(__file__).parents[2]
# Everything else stays out of the process, above all the secrets.
_ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")
TIMEOUT_SECONDS = 30
# How long to wait while the worker draws other invoices.
MAX_WAIT_SECONDS = 5.0
# The same text gives the same file. One has about 20 KB.
CACHED_FILES = 32

# One process at a time for each worker.
_turn = threading.Lock()


class RenderingFailed(Exception):
    """Raised with the end of what the process wrote to standard error."""


class RendererBusy(RenderingFailed):
    """Raised if other invoices are being drawn all the time."""


def render(invoice: InvoiceText) -> bytes:
    """Return the PDF, or raise RenderingFailed."""
    if not _turn.acquire(timeout=MAX_WAIT_SECONDS):
        raise RendererBusy(f"waited {MAX_WAIT_SECONDS:g} s for other invoices")
    try:
        return _draw(invoice)
    finally:
        _turn.release()


@lru_cache(maxsize=CACHED_FILES)
def _draw(invoice: InvoiceText) -> bytes:
    try:
        ended = subprocess.run(
            _COMMAND,
            cwd=_ROOT,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            input=orjson.dumps(invoice),
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RenderingFailed(type(error).__name__) from None
    if ended.returncode or not ended.stdout.startswith(b"%PDF-"):
        lines = ended.stderr.decode(errors="replace").strip().splitlines()
        raise RenderingFailed(lines[-1] if lines else f"exit code {ended.returncode}")
    return ended.stdout
