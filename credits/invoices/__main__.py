"""Read the text of an invoice as JSON from standard input, and write its PDF to standard output."""

import os
import signal
import sys

import orjson

from credits.invoices.text import InvoiceText

# API calls come first. A higher number is a lower priority.
NICENESS = 10


def main() -> None:
    # Ctrl-C and systemd signal all processes. This one finishes, as an email waits for it.
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.SIG_IGN)
    os.nice(NICENESS)
    # Imported at the low priority as well: it takes half of the process's CPU time.
    from credits.invoices.drawing import draw

    values = orjson.loads(sys.stdin.buffer.read())
    sys.stdout.buffer.write(draw(InvoiceText(**values)))


if __name__ == "__main__":
    main()
