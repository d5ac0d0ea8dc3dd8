"""Emails about keys, for the account's owners and admins and for the key's creator."""

from accounts.emails import link, queue_email
from accounts.models import User
from accounts.names import format_for_email
from accounts.roles import Role
from apikeys.models import ApiKey

NOTIFIED_ROLES = (Role.OWNER, Role.ADMIN)


def queue_key_created(*, key: ApiKey, actor: User | None) -> None:
    _queue("apikeys/mails/key_created", key, actor)


def queue_key_changed(*, key: ApiKey, actor: User | None) -> None:
    _queue("apikeys/mails/key_changed", key, actor)


def queue_key_rotated(*, key: ApiKey, replacement: ApiKey, actor: User | None) -> None:
    _queue("apikeys/mails/key_rotated", key, actor, replacement=replacement)


def queue_key_revoked(*, key: ApiKey, actor: User | None) -> None:
    _queue("apikeys/mails/key_revoked", key, actor)


def queue_key_expires(*, key: ApiKey) -> None:
    _queue("apikeys/mails/key_expires", key, None)


def _queue(template: str, key: ApiKey, actor: User | None, **extra: object) -> None:
    context = {
        "key": key,
        "account": key.account,
        "actor": _actor_name(actor, key),
        "link": link("apikeys:show-keys"),
        **extra,
    }
    for email in _recipients(key):
        queue_email(email, template, context)


def _actor_name(actor: User | None, key: ApiKey) -> str:
    """Return a member's name, but never a staff user's: only the audit log has that."""
    is_member = actor is not None and key.account.memberships.filter(user=actor).exists()
    return format_for_email(actor.name) or actor.email if actor and is_member else "Our support"


def _recipients(key: ApiKey) -> list[str]:
    """Return the recipients' addresses. A creator who left the account is not among them."""
    members = key.account.memberships.select_related("user").order_by("pk")
    return [
        member.user.email
        for member in members
        if member.role in NOTIFIED_ROLES or member.user_id == key.created_by_id
    ]
