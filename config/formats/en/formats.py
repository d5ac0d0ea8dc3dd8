"""Date formats of pages and emails: 20 Nov 2026, 18:30."""

DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y, H:i"
TIME_FORMAT = "H:i"
