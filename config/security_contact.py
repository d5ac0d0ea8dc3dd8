"""Whom to tell of a hole: RFC 9116."""

from datetime import UTC, datetime, time, timedelta

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

# Within a year, as the RFC asks. Whoever runs this copy today answers for it tomorrow.
VALID_DAYS = 180


@login_not_required
@require_safe
def show_security_contact(request: HttpRequest) -> HttpResponse:
    lines = [
        f"Contact: mailto:{settings.SUPPORT_EMAIL}",
        f"Expires: {_in_days(VALID_DAYS):%Y-%m-%dT%H:%M:%SZ}",
        "Preferred-Languages: en",
        f"Canonical: {settings.BASE_URL}{request.path}",
    ]
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")


def _in_days(days: int) -> datetime:
    """The same for a whole day, so that nobody wonders why it differs."""
    day = timezone.now().astimezone(UTC).date() + timedelta(days=days)
    return datetime.combine(day, time(), UTC)
