"""Name the route of a request. Imports nothing that reads the settings, for config/wsgi.py."""

import re
from functools import lru_cache

from django.urls import ResolverMatch

_NAMED_GROUP = re.compile(r"\(\?P(<\w+>)[^)]*\)")
_REGEX_SYNTAX = re.compile(r"\(\?:.*|/\?\$|\\Z|[\^$\\]")


def get_route(match: ResolverMatch | None) -> str:
    """Return the URL pattern that matched, in readable form.

    There are only as many routes as patterns, so they can be metric labels.
    """
    return _readable(match.route) if match is not None else ""


@lru_cache(maxsize=4096)
def _readable(route: str) -> str:
    with_names = _NAMED_GROUP.sub(r"\1", route)
    return f"/{_REGEX_SYNTAX.sub('', with_names)}"
