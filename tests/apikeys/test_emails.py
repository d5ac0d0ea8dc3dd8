"""Sentences of the emails about keys."""

from datetime import UTC, datetime

from accounts.models import Account
from apikeys.emails import describe_need, describe_old_key
from apikeys.models import ApiKey

MOMENT = datetime(2026, 11, 3, 9, 5, tzinfo=UTC)


def make_key(**fields: object) -> ApiKey:
    account = Account(requests_per_minute=1_200)
    return ApiKey(account=account, first_four="Ab1c", last_four="9xYz", **fields)


def test_old_key_is_described_until_it_no_longer_works() -> None:
    sentence = "The old key, svc_live_Ab1c…9xYz, works until 3 Nov 2026, 09:05 UTC."
    assert describe_old_key(make_key(expires_at=MOMENT)) == sentence
    key = make_key(revoked_at=MOMENT, expires_at=MOMENT)
    assert describe_old_key(key) == "The old key, svc_live_Ab1c…9xYz, no longer works."


def test_used_and_unused_keys_get_different_advice() -> None:
    assert describe_need(make_key(last_used_at=MOMENT)) == (
        "This key is in use. Rotate it before then: both keys work while you update your servers."
    )
    assert describe_need(make_key()) == (
        "This key has never been used. If you need it, rotate it before then: "
        "both keys work while you update your servers."
    )
