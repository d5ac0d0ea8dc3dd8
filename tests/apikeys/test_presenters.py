"""The rows of the page of the keys."""

from datetime import timedelta

from django.utils import timezone

from accounts.models import User
from apikeys.models import ApiKey
from apikeys.presenters import ActiveKeyRow, InactiveKeyRow


def test_key_without_settings_has_no_remarks() -> None:
    row = ActiveKeyRow(ApiKey())
    assert row.restrictions == []
    assert (row.created_by, row.last_used_from, row.expiry_tone, row.replacement) == ("",) * 4


def test_key_shows_its_restrictions_and_origin() -> None:
    networks = ["192.0.2.0/24", "198.51.100.0/24"]
    key = ApiKey(
        allowed_networks=networks,
        requests_per_minute=1_200,
        created_by=User(email="olive@shop.example", name="Olive"),
        last_used_ip="192.0.2.1",
    )
    row = ActiveKeyRow(key)
    assert row.restrictions == ["Only from 2 networks", "1,200 requests per minute"]
    assert (row.created_by, row.last_used_from) == ("by Olive", "from 192.0.2.1")
    key.allowed_networks, key.requests_per_minute = networks[:1], 1
    assert row.restrictions == ["Only from 1 network", "1 request per minute"]


def test_key_that_expires_soon_is_a_warning() -> None:
    soon, later = timezone.now() + timedelta(days=6), timezone.now() + timedelta(days=60)
    assert ActiveKeyRow(ApiKey(expires_at=soon)).expiry_tone == "risky"
    assert ActiveKeyRow(ApiKey(expires_at=later)).expiry_tone == ""
    successor = ApiKey(first_four="Ab3d", last_four="9xYz")
    row = ActiveKeyRow(ApiKey(expires_at=soon, replaced_by=successor))
    assert row.replacement == "Replaced by svc_live_Ab3d…9xYz"


def test_inactive_key_says_why_and_since_when() -> None:
    now = timezone.now()
    expired, revoked = ApiKey(expires_at=now), ApiKey(expires_at=now, revoked_at=now)
    assert (InactiveKeyRow(expired).state, InactiveKeyRow(expired).since) == ("Expired", now)
    assert (InactiveKeyRow(revoked).state, InactiveKeyRow(revoked).since) == ("Revoked", now)
