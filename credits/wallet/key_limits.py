"""A key's limit per calendar month (UTC).

The use comes from usage totals and open holds, so it agrees with the books. Rotated keys share it.
Charges and holds check it in their transaction, which has locked the wallet.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache

from django.conf import settings
from django.db.models import BigIntegerField, DateField, DateTimeField, Q
from django.urls import reverse
from django.utils import timezone

from accounts.events import record_event
from apikeys import emails
from apikeys.credit_limits import CreditUse
from apikeys.errors import ApiError
from apikeys.event_types import KEY_CREDIT_LIMIT_REACHED
from apikeys.models import ApiKey
from credits.money import format_credits
from runtime.database.raw_sql import JsonTable, execute
from runtime.dates import midnight


@dataclass(eq=False)
class KeyCreditLimitReached(ApiError):
    code: str = "key_credit_limit_reached"


def find_use(*, keys: Sequence[ApiKey]) -> dict[int, CreditUse]:
    return _find_use(keys, current_month())


def current_month() -> date:
    """Call this before recording what is then checked."""
    return timezone.now().date().replace(day=1)


def refuse_unaffordable(key: ApiKey, price: int) -> CreditUse | None:
    """Refuse a price above what is left. Return the use, if there is a limit."""
    if key.credits_per_month is None or not price:
        return None
    use = find_use(keys=[key]).get(key.pk)
    if use is not None and price > use.limit - use.used:
        raise limit_reached(key, use, required=price)
    return use


def check_hold(key: ApiKey, amount: int) -> None:
    """The caller has locked the wallet."""
    use = refuse_unaffordable(key, amount)
    if use is not None:
        _announce(key, replace(use, held=use.held + amount), amount)


def enforce(costs: Mapping[ApiKey, int], month: date) -> None:
    """The caller has locked the wallet and recorded the costs."""
    uses = _find_use(costs, month)
    total = sum(costs.values())
    for key, cost in costs.items():
        use = uses.get(key.pk)
        if use is None or not cost:
            continue
        if use.used > use.limit:
            raise limit_reached(key, replace(use, charged=use.charged - cost), required=cost)
        _announce(key, use, total)


def limit_reached(key: ApiKey, use: CreditUse, *, required: int) -> KeyCreditLimitReached:
    return KeyCreditLimitReached(
        message=f"This request costs {format_credits(required)}, but its API key has a limit: "
        f"{use.amount}. The limit {use.reset}; raise it under Settings → API Keys.",
        details={
            "required": required,
            "limit": use.limit,
            "used": use.used,
            "held": use.held,
            "remaining": use.remaining,
            "resets_at": f"{midnight(use.resets_on):%Y-%m-%dT%H:%M:%SZ}",
            "key_url": f"{settings.BASE_URL}{reverse('apikeys:change-key', args=[key.public_id])}",
        },
    )


def _announce(key: ApiKey, use: CreditUse, added: int) -> None:
    """Announce it at or near the limit, once a month, as refunds let keys reach it again.

    Keys that share use and limit share the email.
    """
    now, is_reached = timezone.now(), use.used == use.limit
    if not (is_reached or use.nears_limit(added)):
        return
    origin = key.origin_id or key.pk
    keys = ApiKey.objects.filter(Q(pk=origin) | Q(origin=origin), account=key.account_id)
    due = keys.filter(_is_due("limit_announced_at", use.month), credits_per_month=use.limit)
    if is_reached:
        if due.update(limit_announced_at=now):
            emails.queue_key_limit_reached(key=key, use=use)
            limits = {"limit": use.limit, "resets_at": midnight(use.resets_on)}
            record_event(key.account, KEY_CREDIT_LIMIT_REACHED, {"id": key.public_id, **limits})
    elif due.filter(_is_due("limit_warned_at", use.month)).update(limit_warned_at=now):
        emails.queue_key_limit_near(key=key, use=use)


def _is_due(announced_at: str, month: date) -> Q:
    return Q(**{announced_at: None}) | Q(**{f"{announced_at}__lt": midnight(month)})


def _find_use(keys: Iterable[ApiKey], month: date) -> dict[int, CreditUse]:
    limited = [key.pk for key in keys if key.credits_per_month is not None]
    if not limited:
        return {}
    value = _KEYS.value((key_id, midnight(month), month) for key_id in limited)
    # With the stored limit, which may have changed since the request read its key.
    return {
        key_id: CreditUse(limit, int(charged), int(held), month)
        for key_id, limit, charged, held in execute(_use_sql(), [value])
    }


_KEYS = JsonTable(wanted=BigIntegerField(), start=DateTimeField(), first_day=DateField())


@cache
def _use_sql() -> str:
    """Use one statement, so that limits and totals agree.

    It names the account, the indexes' first column.
    """
    return f"""
        SELECT key.id, key.credits_per_month,
            COALESCE(SUM((
                SELECT SUM(credits) FROM credits_usehour AS hours
                WHERE hours.account_id = member.account_id AND hours.key_id = member.id
                    AND hour >= start AND NOT summed
            )), 0) + COALESCE(SUM((
                SELECT SUM(credits) FROM credits_useday AS days
                WHERE days.account_id = member.account_id AND days.key_id = member.id
                    AND day >= first_day
            )), 0),
            COALESCE(SUM((
                SELECT SUM(remaining) FROM credits_hold AS hold
                WHERE hold.account_id = member.account_id AND hold.key_id = member.id
                    AND ended_at IS NULL
            )), 0)
        FROM {_KEYS.table}
        JOIN apikeys_apikey AS key ON key.id = wanted
        JOIN apikeys_apikey AS member ON member.account_id = key.account_id
            AND COALESCE(member.origin_id, member.id) = COALESCE(key.origin_id, key.id)
        WHERE key.credits_per_month IS NOT NULL
        GROUP BY key.id, key.credits_per_month
    """  # noqa: S608 - our own names
