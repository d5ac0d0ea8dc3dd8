from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest


class Refused(Exception):
    """Raised with a text for the user if a rule forbids what they asked for."""


@contextmanager
def show_refusal(request: HttpRequest) -> Iterator[None]:
    """Show the refusal's text as a message on the next page."""
    try:
        yield
    except Refused as refusal:
        messages.error(request, str(refusal))
