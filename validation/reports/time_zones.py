"""Read the viewer's time zone from the cookie that static/js/page.js sets."""

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

from django.http import HttpRequest

COOKIE = "timezone"


def viewer_time_zone(request: HttpRequest) -> tzinfo:
    name = request.COOKIES.get(COOKIE, "")
    # Accept places such as Asia/Kolkata. Names without a slash, such as Factory, mean nothing.
    if "/" not in name:
        return UTC
    try:
        return ZoneInfo(name)
    # ZoneInfo reads a file, so an invalid or unknown name raises one of several errors.
    except (ValueError, OSError, KeyError):
        return UTC
