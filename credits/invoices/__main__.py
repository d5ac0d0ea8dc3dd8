"""Read the text of an invoice as JSON from standard input, and write its PDF to standard output."""

import sys

import orjson

from credits.invoices.drawing import draw
from credits.invoices.text import InvoiceText


def main() -> None:
    values = orjson.loads(sys.stdin.buffer.read())
    sys.stdout.buffer.write(draw(InvoiceText(**values)))


if __name__ == "__main__":
    main()
