"""Date formats of emails and staff pages: 20 Nov 2026, 18:30."""

from accounts.date_display import PATTERNS, DateFormat

_PATTERNS = PATTERNS[DateFormat.DAY_FIRST]
DATE_FORMAT = _PATTERNS["DATE_FORMAT"]
DATETIME_FORMAT = _PATTERNS["DATETIME_FORMAT"]
TIME_FORMAT = _PATTERNS["TIME_FORMAT"]
