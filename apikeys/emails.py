from django.utils.formats import date_format

from accounts.emails import link, queue_email
from accounts.models import User
from accounts.names import format_for_email
from accounts.roles import Role
from apikeys.credit_limits import CreditUse
from apikeys.event_types import KEY_CREDIT_LIMIT_REACHED, KEY_EXPIRING
from apikeys.models import ApiKey
from runtime.mail.rendering import EmailRow

NOTIFIED_ROLES = (Role.OWNER, Role.ADMIN)


def queue_key_created(*, key: ApiKey, actor: User | None) -> None:
    _queue("apikeys/mails/key_created", key, actor)


def queue_key_changed(*, key: ApiKey, actor: User | None) -> None:
    _queue("apikeys/mails/key_changed", key, actor, sentence=describe_access(key))


def queue_key_rotated(*, key: ApiKey, replacement: ApiKey, actor: User | None) -> None:
    sentence = describe_old_key(key)
    rows = [*_key_rows(key)[:1], EmailRow("New key", replacement.display)]
    _queue("apikeys/mails/key_rotated", key, actor, rows=rows, sentence=sentence)


def queue_key_revoked(*, key: ApiKey, actor: User | None) -> None:
    _queue("apikeys/mails/key_revoked", key, actor)


def queue_key_expires(*, key: ApiKey) -> None:
    sentence = describe_need(key)
    _queue("apikeys/mails/key_expires", key, None, sentence=sentence, event_type=KEY_EXPIRING)


def queue_key_limit_near(*, key: ApiKey, use: CreditUse) -> None:
    sentence = f"{use.amount}. The limit {use.reset}."
    _queue_limit("apikeys/mails/key_limit_near", key, sentence=sentence, percent=use.percent)


def queue_key_limit_reached(*, key: ApiKey, use: CreditUse) -> None:
    end = f"{use.resets_on:%B} {use.resets_on.day} (UTC)"
    sentence = f"{use.amount}. Requests that cost credits are refused until {end}."
    _queue_limit("apikeys/mails/key_limit_reached", key, sentence=sentence)


def describe_access(key: ApiKey) -> str:
    networks = ", ".join(key.allowed_networks)
    where = f"only from {networks}" if networks else "from anywhere"
    limits = f"{key.request_limit:,} requests per minute"
    if key.credits_per_month:
        limits += f" and {key.credits_per_month:,} credits per month"
    scopes = key.scope_names
    access = "full access" if scopes is None else f"these scopes: {', '.join(scopes)}"
    return f"It can now be used {where}, for {limits}. It has {access}."


def describe_old_key(key: ApiKey) -> str:
    if key.is_revoked or key.expires_at is None:
        return f"The old key, {key.display}, no longer works."
    end = date_format(key.expires_at, "DATETIME_FORMAT")
    return f"The old key, {key.display}, works until {end} UTC."


def describe_need(key: ApiKey) -> str:
    if key.last_used_at:
        advice = "This key is in use. Rotate it before then"
    else:
        advice = "This key has never been used. If you need it, rotate it before then"
    return f"{advice}: both keys work while you update your servers."


def _queue_limit(template: str, key: ApiKey, **extra: object) -> None:
    page = link("apikeys:change-key", key_id=key.public_id)
    _queue(template, key, None, link=page, event_type=KEY_CREDIT_LIMIT_REACHED, **extra)


def _queue(template: str, key: ApiKey, actor: User | None, **extra: object) -> None:
    members = list(key.account.memberships.select_related("user").order_by("pk"))
    # Never name staff: only the audit log does.
    name = "Our support team"
    if actor and actor in [member.user for member in members]:
        name = format_for_email(actor.name) or actor.email
    context = {
        "key": key,
        "account": key.account,
        "actor": name,
        "rows": _key_rows(key),
        "link": link("apikeys:show-keys"),
        **extra,
    }
    for member in members:
        if member.role in NOTIFIED_ROLES or member.user_id == key.created_by_id:
            queue_email(member.user.email, template, context)


def _key_rows(key: ApiKey) -> list[EmailRow]:
    return [EmailRow("Name", format_for_email(key.name)), EmailRow("Key", key.display)]
