from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from pytest_django import Settings

pytestmark = pytest.mark.anywhere


def test_security_txt_has_contact_and_expiry(db: None, settings: Settings) -> None:
    response = Client().get("/.well-known/security.txt")
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in response.content.decode().splitlines())
    assert fields["Contact"] == f"mailto:{settings.SUPPORT_EMAIL}"
    assert fields["Canonical"] == f"{settings.BASE_URL}/.well-known/security.txt"
    assert fields["Policy"] == f"{settings.BASE_URL}/security/#report"
    assert b'id="report"' in Client().get("/security/").content
    expires = datetime.fromisoformat(fields["Expires"])
    assert timedelta(days=170) < expires - datetime.now(UTC) < timedelta(days=366)
