"""The process that draws invoices: low priority, one at a time, and each invoice once."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import orjson
import psutil
import pytest

from credits.invoices import rendering
from credits.invoices.__main__ import NICENESS
from credits.invoices.rendering import RendererBusy, RenderingFailed, render
from tests.credits.invoices.test_drawing import INVOICE


@pytest.fixture(autouse=True)
def _nothing_cached() -> Iterator[None]:
    rendering._draw.cache_clear()
    yield
    rendering._draw.cache_clear()


@contextmanager
def drawing_process() -> "Iterator[subprocess.Popen[bytes]]":
    """Start the process and wait until it has a low priority. It then waits for the text."""
    with subprocess.Popen(
        rendering._COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as drawing:
        deadline = time.monotonic() + 60
        while psutil.Process(drawing.pid).nice() != NICENESS:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield drawing


@pytest.mark.process
def test_process_draws_at_a_low_priority() -> None:
    with drawing_process() as drawing:
        pdf, _ = drawing.communicate(orjson.dumps(INVOICE))
    assert pdf.startswith(b"%PDF-")
    assert psutil.Process().nice() < NICENESS


@pytest.mark.process
def test_process_finishes_its_invoice_when_the_machine_stops_the_service() -> None:
    with drawing_process() as drawing:
        for signum in (signal.SIGTERM, signal.SIGINT):
            drawing.send_signal(signum)
        pdf, _ = drawing.communicate(orjson.dumps(INVOICE))
    assert pdf.startswith(b"%PDF-")


def test_invoice_is_drawn_once() -> None:
    assert render(INVOICE) == render(replace(INVOICE))
    assert rendering._draw.cache_info().misses == 1
    assert render(replace(INVOICE, stamp="Paid")) != render(INVOICE)


def test_render_gives_up_while_other_invoices_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "MAX_WAIT_SECONDS", 0.01)
    with rendering._turn, pytest.raises(RendererBusy, match="for other invoices"):
        render(INVOICE)
    assert render(INVOICE)


def test_failure_is_described_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        failing = (sys.executable, "-c", "raise SystemExit('a font is missing')")
        broken.setattr(rendering, "_COMMAND", failing)
        with pytest.raises(RenderingFailed, match="a font is missing"):
            render(INVOICE)
    assert render(INVOICE)
