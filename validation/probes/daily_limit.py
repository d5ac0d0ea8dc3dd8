"""Limit the mailbox checks of free accounts per day (UTC)."""

from datetime import UTC, datetime, time, timedelta

from django.conf import settings
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from accounts.models import Account
from apikeys.errors import ApiError
from credits.plans.list_limits import is_free
from validation.models import MailboxCheckDay

FREE_CHECKS_PER_DAY = 20


def count_check(account: Account, number: int = 1) -> None:
    """Raise ApiError if the account has used its checks of today."""
    if not is_free(account):
        return
    today = timezone.now().astimezone(UTC).date()
    MailboxCheckDay.objects.get_or_create(account=account, day=today)
    days = MailboxCheckDay.objects.filter(account=account, day=today)
    is_counted = days.filter(number__lte=FREE_CHECKS_PER_DAY - number).update(
        number=F("number") + number
    )
    if not is_counted:
        midnight = datetime.combine(today + timedelta(days=1), time(), UTC)
        raise ApiError(
            "plan_limit_reached",
            f"The Free plan has {FREE_CHECKS_PER_DAY} mailbox checks per day. Buy credits or "
            "upgrade your plan, or try again after midnight UTC.",
            details={
                "limit": FREE_CHECKS_PER_DAY,
                "resets_at": f"{midnight:%Y-%m-%dT%H:%M:%SZ}",
                "upgrade_url": f"{settings.BASE_URL}{reverse('credits:choose-plan')}",
            },
        )
