"""One function a mail. Key events go to the owners, the admins, and who created the key."""

from accounts.emails import link, queue_email
from accounts.models import User
from accounts.names import in_email
from accounts.roles import Role
from apikeys.models import ApiKey

TOLD = (Role.OWNER, Role.ADMIN)


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


def _queue(template: str, key: ApiKey, actor: User | None, **more: object) -> None:
    context = {
        "key": key,
        "account": key.account,
        "actor": _name_of(actor, key),
        "link": link("apikeys:show-keys"),
        **more,
    }
    for email in _told(key):
        queue_email(email, template, context)


def _name_of(actor: User | None, key: ApiKey) -> str:
    """Customers know their colleagues; who of our staff it was is in the audit log alone."""
    known = actor is not None and key.account.memberships.filter(user=actor).exists()
    return in_email(actor.name) or actor.email if actor and known else "Our support"


def _told(key: ApiKey) -> list[str]:
    """Who left the account is told nothing any more."""
    members = key.account.memberships.select_related("user").order_by("pk")
    return [
        member.user.email
        for member in members
        if member.role in TOLD or member.user_id == key.created_by_id
    ]
