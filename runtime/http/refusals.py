from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest


@contextmanager
def show_refusal(request: HttpRequest, error: type[Exception]) -> Iterator[None]:
    """Show the error's text as a message on the next page."""
    try:
        yield
    except error as refusal:
        messages.error(request, str(refusal))
