"""Serve security.txt: where to report vulnerabilities (RFC 9116)."""

from datetime import UTC, timedelta

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from runtime.dates import midnight

# RFC 9116, 2.5.5: less than a year.
VALID_DAYS = 180


@login_not_required
@require_safe
def show_security_contact(request: HttpRequest) -> HttpResponse:
    # The response stays the same for a day.
    expires = midnight(timezone.now().astimezone(UTC).date() + timedelta(days=VALID_DAYS))
    lines = [
        f"Contact: mailto:{settings.SUPPORT_EMAIL}",
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
        f"Policy: {settings.BASE_URL}/security/#report",
        "Preferred-Languages: en",
        f"Canonical: {settings.BASE_URL}{request.path}",
    ]
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")
