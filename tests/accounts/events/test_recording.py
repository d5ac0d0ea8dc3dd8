"""Which events are recorded, and with which data."""

import re
from datetime import timedelta

import orjson
import pytest
import time_machine
from django.core.cache import cache
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from jsonschema import Draft202012Validator

from accounts import services as accounts
from accounts.events.types import event_types
from accounts.models import Account, Event, User
from apikeys import services as keys
from apikeys.models import ApiKey
from credits.models import Wallet
from credits.services import grant
from credits.wallet.charges import Charge, InsufficientCredits, charge_account
from lists.lifecycle import delete_list
from lists.models import AddressList
from tests.accounts.events.provocations import (
    ADDRESSES,
    ANSWER,
    CHECKED,
    INVITED,
    KEY_NAME,
    LIST_NAME,
    METADATA,
    PROVOCATIONS,
    REASON,
    Shop,
    work,
)
from tests.lists.factory import make_started_list

pytestmark = pytest.mark.django_db

MAX_BYTES = 20_000


@pytest.fixture
def shop(account: Account, owner: User, staff: User, secret: str) -> Shop:
    return Shop(account, owner, staff, secret)


def recorded(account: Account, *names: str) -> list[dict[str, object]]:
    """Return the data of the account's events of these types, oldest first."""
    events = Event.objects.filter(account=account, type__in=names).order_by("pk")
    return [orjson.loads(event.body)["data"] for event in events]


def test_every_type_is_recorded_with_valid_data_that_identifies_no_person(shop: Shop) -> None:
    types = {event_type.name: event_type for event_type in event_types}
    assert types.keys() == PROVOCATIONS.keys(), "Add a provocation for each type."
    for name, provoke in PROVOCATIONS.items():
        before = set(Event.objects.values_list("pk", flat=True))
        provoke(shop)
        added = Event.objects.exclude(pk__in=before).values_list("type", flat=True)
        assert name in added, f"{name}: only {[*added]}"
    hidden = [shop.owner.email, shop.owner.name, shop.staff.email, shop.account.name]
    hidden += [*ADDRESSES, CHECKED, INVITED, "ivy", LIST_NAME, *METADATA.values(), "hidden"]
    hidden += [KEY_NAME, REASON, ANSWER, "@", "svc_", shop.secret, *shop.secrets]
    for event in Event.objects.filter(account=shop.account):
        body = orjson.loads(event.body)
        assert list(body) == ["id", "type", "timestamp", "account_id", "data"]
        ids = (event.public_id, event.type, shop.account.public_id)
        assert (body["id"], body["type"], body["account_id"]) == ids
        fields = types[event.type].data
        schema = {"properties": {**fields}, "required": [*fields], "additionalProperties": False}
        Draft202012Validator(schema).validate(body["data"])
        assert len(event.body.encode()) <= MAX_BYTES
        # A random ID may contain any word.
        text = re.sub(r"[a-z]{3}_[A-Za-z0-9]{20,}", "", event.body).lower()
        assert not [word for word in hidden if word.lower() in text], event.body


def test_only_the_call_that_crosses_the_threshold_records_an_event(shop: Shop) -> None:
    shop.set_balance(12)
    with CaptureQueriesContext(connection) as queries:
        shop.call()
    assert not [query for query in queries if "accounts_event" in str(query["sql"])]
    balance_events = ("credits.low", "credits.exhausted")
    assert recorded(shop.account, *balance_events) == []
    shop.call()
    shop.call()
    low = {"balance": 10, "threshold": 10}
    assert recorded(shop.account, *balance_events) == [low]
    # Requests that share a transaction count as if one came after the other.
    charge = Charge(shop.account, None, "risky", 3, 1)
    charge_account(charge, charge, charge)
    with pytest.raises(InsufficientCredits), transaction.atomic():
        charge_account(charge)
    assert recorded(shop.account, *balance_events) == [low, {"balance": 0, "threshold": 10}]


def test_expiry_is_recorded_once_for_keys_that_expired_during_the_last_day(
    account: Account, owner: User, key: ApiKey
) -> None:
    start = timezone.now()

    def create(**valid_for: float) -> ApiKey:
        expires_at = start + timedelta(**valid_for)
        return keys.create_key(account=account, name="A", actor=owner, expires_at=expires_at)[0]

    soon, revoked, _ = create(minutes=1), create(minutes=1), create(days=2)
    keys.revoke_key(key=revoked, actor=owner)
    keys.rotate_key(key=key, grace=timedelta(hours=1), actor=owner)

    def expired_after(seconds: int) -> list[object]:
        with time_machine.travel(start + timedelta(seconds=seconds), tick=False):
            keys.record_expired_keys(is_stopping=bool)
        return [data["id"] for data in recorded(account, "key.expired")]

    assert expired_after(59) == []
    # Within 20 seconds of the last search.
    assert expired_after(61) == []
    for seconds, expired in ((61, [soon]), (90, [soon]), (2 * 3_600, [soon, key])):
        cache.clear()
        assert expired_after(seconds) == [found.public_id for found in expired], seconds
    cache.clear()
    # No worker ran while another key expired, for more than a day.
    assert expired_after(3 * 86_400 + 1) == [soon.public_id, key.public_id]


def test_closing_an_account_records_no_events(shop: Shop) -> None:
    shop.create_key(expires_at=timezone.now() + timedelta(seconds=1))
    PROVOCATIONS["plan.changed"](shop)
    shop.start_list()
    before = Event.objects.count()
    accounts.close_account(account=shop.account, actor=shop.owner)
    with time_machine.travel(timezone.now() + timedelta(minutes=1)):
        cache.clear()
        keys.record_expired_keys(is_stopping=bool)
    grant(account=shop.account, amount=5, reason="A correction", actor=shop.staff)
    assert Event.objects.count() == before


def test_list_that_starts_automatically_is_ready_only_if_its_start_was_refused(shop: Shop) -> None:
    """Its results are ready before it is completed."""

    def upload() -> AddressList:
        shop.upload(b"email\n" + CHECKED.encode(), starts_when_ready=True)
        return AddressList.objects.latest("pk")

    shop.set_balance(100)
    done = upload()
    events = Event.objects.filter(account=shop.account, type__startswith="list.").order_by("pk")
    assert [event.type for event in events] == ["list.results_ready", "list.completed"]
    counts = {"deliverable": 0, "risky": 0, "undeliverable": 1, "unknown": 0}
    facts = {"id": done.public_id, "code": None, "rows": 1, "addresses": 1, **counts, "credits": 1}
    assert recorded(shop.account, "list.results_ready") == [{**facts, "state": "rechecking"}]
    assert recorded(shop.account, "list.completed") == [{**facts, "state": "completed"}]
    shop.set_balance(0)
    refused = upload()
    (ready,) = recorded(shop.account, "list.ready")
    assert (ready["id"], ready["code"]) == (refused.public_id, "insufficient_credits")


def test_list_that_lost_its_credits_is_paused_with_a_code_and_canceled_when_deleted(
    shop: Shop,
) -> None:
    shop.set_balance(100)
    addresses = [f"jane..{number}@customer.example" for number in range(20)]
    address_list = make_started_list(shop.account, addresses)
    Wallet.objects.deduct(shop.account, 100)
    work()
    (paused,) = recorded(shop.account, "list.paused")
    assert (paused["code"], paused["state"]) == ("credits_deducted", "paused")
    delete_list(address_list=address_list, actor=shop.actor)
    (canceled,) = recorded(shop.account, "list.canceled")
    assert canceled["id"] == address_list.public_id
