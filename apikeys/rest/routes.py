from django.urls import URLPattern, path

from apikeys.rest.view import ApiView


def operation(route: str, view: type[ApiView]) -> list[URLPattern]:
    """Return the path with and without a slash. Two patterns are easier to read in traces."""
    return [path(route, view.as_view()), path(f"{route}/", view.as_view(schema=None))]
