"""config/wsgi.py imports this before settings are loaded."""

import re
from functools import lru_cache

from django.urls import ResolverMatch

_NAMED_GROUP = re.compile(r"\(\?P(<\w+>)[^)]*\)")
_REGEX_SYNTAX = re.compile(r"\(\?:.*|/\?\$|\\Z|[\^$\\]")


def get_route(match: ResolverMatch | None) -> str:
    return _readable(match.route) if match is not None else ""


@lru_cache(maxsize=4096)
def _readable(route: str) -> str:
    with_names = _NAMED_GROUP.sub(r"\1", route)
    return f"/{_REGEX_SYNTAX.sub('', with_names)}"
