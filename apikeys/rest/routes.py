"""The URL patterns of operations."""

from django.urls import URLPattern, path

from apikeys.rest.view import ApiView


def operation(route: str, view: type[ApiView]) -> list[URLPattern]:
    """Return the documented path, and the same with a slash at its end, which clients may send.

    One regular expression for both would be hard to read where tools show a request's route.
    """
    return [path(route, view.as_view()), path(f"{route}/", view.as_view(schema=None))]
