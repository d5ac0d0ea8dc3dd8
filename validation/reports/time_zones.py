"""The viewer's time zone, which their browser told in a cookie (static/js/page.js)."""

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

from django.http import HttpRequest

COOKIE = "timezone"


def zone_of(request: HttpRequest) -> tzinfo:
    name = request.COOKIES.get(COOKIE, "")
    # Of a place: Asia/Kolkata. Others, such as Factory, tell people nothing.
    if "/" not in name:
        return UTC
    try:
        return ZoneInfo(name)
    # What is no name of a zone, or of none that this machine knows. ZoneInfo reads files.
    except (ValueError, OSError, KeyError):
        return UTC
