"""Emails that an account can turn off: those about events whose type is `is_emailed`."""

from collections.abc import Iterable

from django.db import transaction

from accounts import audit
from accounts.events.types import types_by_name
from accounts.models import Account, MutedEmail, User


def wanted_types(account: Account) -> set[str]:
    emailed = {name for name, event_type in types_by_name().items() if event_type.is_emailed}
    return emailed.difference(account.muted_emails.values_list("type", flat=True))


@transaction.atomic
def change_notifications(*, account: Account, wanted: Iterable[str], actor: User) -> None:
    """Turn off the emails about all types but the `wanted` ones."""
    # Concurrent changes wait here.
    Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    before = wanted_types(account)
    account.muted_emails.all().delete()
    off = wanted_types(account).difference(wanted)
    MutedEmail.objects.bulk_create(MutedEmail(account=account, type=name) for name in sorted(off))
    changes = [f"{name} off" for name in sorted(before & off)]
    changes += [f"{name} on" for name in sorted(wanted_types(account) - before)]
    if changes:
        audit.record(account, actor, "notifications.changed", ", ".join(changes))
