"""Create, change, rotate and revoke keys, each with audit entry and emails in one transaction.

Functions that add a key lock the account, or concurrent ones could exceed the maximum.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.core.cache import cache
from django.db import transaction
from django.db.models import Exists, OuterRef, Value
from django.db.models.functions import Concat
from django.utils import timezone

from accounts import audit
from accounts.events import record_event
from accounts.models import Account, Event, User
from apikeys import emails, event_types
from apikeys.credit_limits import CreditUse
from apikeys.hooks import key_credit_use
from apikeys.models import EXPIRY_NOTICE, MAX_ACTIVE_KEYS, ApiKey, KeyChangeRefused, TooManyKeys

_EXPIRED = "key.expired:"


class FormAlreadyUsed(Exception):
    """Raised if the form has created a key, whose secret can't be shown again."""

    def __init__(self, key: ApiKey) -> None:
        super().__init__(f"{key} has already been created.")
        self.key = key


@transaction.atomic
def create_key(
    *,
    account: Account,
    name: str,
    actor: User | None,
    expires_at: datetime | None = None,
    allowed_networks: list[str] | None = None,
    requests_per_minute: int | None = None,
    credits_per_month: int | None = None,
    scopes: list[str] | None = None,
    form_token: str | None = None,
) -> tuple[ApiKey, str]:
    _lock_open_account(account)
    _refuse_used_form(account, form_token)
    key, secret = ApiKey.objects.create_key(
        account=account,
        name=name,
        created_by=actor,
        expires_at=expires_at,
        allowed_networks=allowed_networks or [],
        requests_per_minute=requests_per_minute,
        credits_per_month=credits_per_month,
        scopes=_join(scopes),
        form_token=form_token,
    )
    limit = f", {_describe_limit(credits_per_month)}" if credits_per_month else ""
    audit.record(account, actor, "key.created", f"{key}, {key.access.lower()}{limit}")
    emails.queue_key_created(key=key, actor=actor)
    data = {"id": key.public_id, "expires_at": expires_at}
    record_event(account, event_types.KEY_CREATED, data)
    return key, secret


@transaction.atomic
def change_key(
    *,
    key: ApiKey,
    name: str,
    allowed_networks: list[str],
    requests_per_minute: int | None,
    credits_per_month: int | None,
    scopes: list[str] | None,
    actor: User,
) -> None:
    # A charge may have announced the limit since the key was read.
    key.refresh_from_db(from_queryset=ApiKey.objects.select_for_update(no_key=True))
    key.require_active()
    before = str(key)
    key.name = name
    key.allowed_networks = allowed_networks
    key.requests_per_minute = requests_per_minute
    key.scopes = _join(scopes)
    if credits_per_month != key.credits_per_month:
        key.credits_per_month = credits_per_month
        key.limit_announced_at = key.limit_warned_at = None
    key.save()
    networks = ", ".join(allowed_networks) or "anywhere"
    limit = requests_per_minute or "the account's"
    credit_limit = _describe_limit(credits_per_month)
    limits = f"limit {limit}, {credit_limit}"
    target = f"{before}: {name}, {key.access.lower()}, from {networks}, {limits}"
    audit.record(key.account, actor, "key.changed", target)
    emails.queue_key_changed(key=key, actor=actor)


@transaction.atomic
def rotate_key(
    *,
    key: ApiKey,
    grace: timedelta,
    actor: User,
    form_token: str | None = None,
) -> tuple[ApiKey, str]:
    _lock_open_account(key.account)
    _refuse_used_form(key.account, form_token)
    key.refresh_from_db()
    key.require_rotatable()
    try:
        replacement, secret = key.rotate(grace=grace, created_by=actor, form_token=form_token)
    except TooManyKeys:
        raise KeyChangeRefused(
            f"Your account would have more than {MAX_ACTIVE_KEYS} active keys. "
            "Revoke the old key now, or revoke another one first."
        ) from None
    key.refresh_from_db()
    audit.record(key.account, actor, "key.rotated", f"{key} → {replacement.display}")
    emails.queue_key_rotated(key=key, replacement=replacement, actor=actor)
    ids = {"id": key.public_id, "replaced_by": replacement.public_id}
    expires_at = key.revoked_at or key.expires_at
    record_event(key.account, event_types.KEY_ROTATED, {**ids, "expires_at": expires_at})
    return replacement, secret


@transaction.atomic
def revoke_key(*, key: ApiKey, actor: User | None) -> bool:
    """Revoke the key. Return False if it was revoked before."""
    if not key.revoke():
        return False
    audit.record(key.account, actor, "key.revoked", str(key))
    emails.queue_key_revoked(key=key, actor=actor)
    record_event(key.account, event_types.KEY_REVOKED, {"id": key.public_id})
    return True


def find_credit_use(keys: Sequence[ApiKey]) -> dict[int, CreditUse]:
    (find_use,) = key_credit_use
    return find_use(keys=keys)


def send_expiry_notices() -> None:
    due = ApiKey.objects.active().filter(
        expires_at__lte=timezone.now() + EXPIRY_NOTICE, expiry_announced_at=None, replaced_by=None
    )
    for key in due.select_related("account"):
        with transaction.atomic():
            unannounced = ApiKey.objects.filter(pk=key.pk, expiry_announced_at=None)
            if unannounced.update(expiry_announced_at=timezone.now()) and key.account.is_open:
                emails.queue_key_expires(key=key)
                data = {"id": key.public_id, "expires_at": key.expires_at}
                record_event(key.account, event_types.KEY_EXPIRING, data)


def record_expired_keys(*, is_stopping: Callable[[], bool]) -> None:
    if not cache.add("expired-keys", True, timeout=20):
        return
    recorded = Event.objects.filter(
        account=OuterRef("account"), once=Concat(Value(_EXPIRED), OuterRef("public_id"))
    )
    last_day = (timezone.now() - timedelta(days=1), timezone.now())
    expired = ApiKey.objects.filter(~Exists(recorded), expires_at__range=last_day, revoked_at=None)
    for key in expired.select_related("account"):
        data, once = {"id": key.public_id, "expires_at": key.expires_at}, _EXPIRED + key.public_id
        record_event(key.account, event_types.KEY_EXPIRED, data, once=once)


def revoke_keys_of_closed_account(*, account: Account, actor: User) -> None:
    """Revoke the keys without emails."""
    for key in account.api_keys.active():
        key.revoke()
        audit.record(account, actor, "key.revoked", str(key))


def erase_personal_data(*, account: Account) -> None:
    """Erase personal data, but keep the rows for the ledger."""
    account.api_keys.update(name="erased", created_by=None, last_used_ip=None, allowed_networks=[])


def export_keys(*, account: Account) -> dict[str, object]:
    return {
        "api_keys": [
            {
                "id": key.public_id,
                "name": key.name,
                "display": key.display,
                "created_by": key.created_by.email if key.created_by else None,
                "created_at": key.created_at,
                "last_used_at": key.last_used_at,
                "last_used_ip": key.last_used_ip,
                "scopes": key.scope_names,
                "expires_at": key.expires_at,
                "revoked_at": key.revoked_at,
                "allowed_networks": key.allowed_networks,
                "requests_per_minute": key.requests_per_minute,
                "credits_per_month": key.credits_per_month,
            }
            for key in account.api_keys.select_related("created_by")
        ]
    }


def _join(scopes: list[str] | None) -> str | None:
    return None if scopes is None else " ".join(scopes)


def _describe_limit(credits_per_month: int | None) -> str:
    return f"{credits_per_month:,} credits per month" if credits_per_month else "no credit limit"


def _lock_open_account(account: Account) -> None:
    if not Account.objects.lock_if_open(account):
        raise KeyChangeRefused("This account is closed. Reopen it to change its keys.")


def _refuse_used_form(account: Account, form_token: str | None) -> None:
    created = account.api_keys.filter(form_token=form_token).first() if form_token else None
    if created is not None:
        raise FormAlreadyUsed(created)
