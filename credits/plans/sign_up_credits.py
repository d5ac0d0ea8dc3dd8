"""The first month of the Free plan: once per account, once per mailbox, and for a few accounts per
domain.

The owner of a domain has as many mailboxes there as they like. So accounts at one registrable
domain share a few places, each of which is free again after 30 days: a large company is not shut
out for good. Free providers have no such limit.
"""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import Account, User
from accounts.roles import Role
from credits.models import LedgerEntry, Plan, SignUpPlace, Subscription
from credits.services import book
from validation.engine.aliases import canonical_address
from validation.engine.domain_data import BUILT_IN_DATA
from validation.engine.syntax import Parts, in_unicode, parse_address

PERIOD = timedelta(days=30)
Kind = LedgerEntry.Kind


class NoPlaceLeft(Exception):
    pass


@transaction.atomic
def give_sign_up_credits(*, user: User, by_operator: bool) -> None:
    """Seam: an address was confirmed, or the operator vouches for it and for its domain."""
    account = Account.objects.owned_by(user.email)
    if account is None or not Account.objects.lock_open(account):
        return
    subscription = Subscription.objects.get(account=account)
    if subscription.gets_free_credits or account.ledger.filter(kind=Kind.SIGNUP).exists():
        return
    try:
        is_first = _book(account, user.email, by_operator=by_operator)
    except NoPlaceLeft:
        subscription.domain_had_free_credits = True
    else:
        subscription.gets_free_credits = is_first
        subscription.domain_had_free_credits = False
    subscription.save(update_fields=["gets_free_credits", "domain_had_free_credits"])


def domain_without_credits(account: Account) -> str:
    """Returns the domain whose other accounts had the free credits that this one did not get.

    Empty for accounts that get them, or did not get them for another reason.
    """
    subscription = account.subscription
    if not subscription.domain_had_free_credits or subscription.is_topped_up:
        return ""
    owner = account.memberships.filter(role=Role.OWNER).select_related("user").first()
    return in_unicode(BUILT_IN_DATA.owner_of(_domain_of(owner.user.email))) if owner else ""


def delete_old_places() -> None:
    """A job of the day."""
    SignUpPlace.objects.filter(taken_at__lte=timezone.now() - PERIOD).delete()


@transaction.atomic
def _book(account: Account, email: str, *, by_operator: bool) -> bool:
    """Returns False if the mailbox had its credits. If no place is left, nothing is booked."""
    free = Plan.objects.free()
    is_first = book(
        account=account,
        kind=Kind.SIGNUP,
        amount=free.monthly_credits,
        source=f"signup:{_digest('credits.mailbox', _mailbox_of(email))}",
        actor=None,
        reason=f"The first month of the plan {free}",
    )
    if is_first and not by_operator:
        _take_place(_domain_of(email))
    return is_first


def _take_place(domain: str) -> None:
    """The unique slots hold the limit, however many confirmations come at the same time."""
    if domain in BUILT_IN_DATA.free_providers:
        return
    digest = _digest("credits.domain", BUILT_IN_DATA.owner_of(domain))
    now = timezone.now()
    for slot in range(settings.SIGN_UP_CREDITS_PER_DOMAIN):
        place, is_new = SignUpPlace.objects.get_or_create(
            domain_digest=digest, slot=slot, defaults={"taken_at": now}
        )
        again = SignUpPlace.objects.filter(pk=place.pk, taken_at__lte=now - PERIOD)
        if is_new or again.update(taken_at=now):
            return
    raise NoPlaceLeft


def _domain_of(email: str) -> str:
    parts = parse_address(email)
    return parts.ascii_domain if isinstance(parts, Parts) else email.lower().rpartition("@")[2]


def _mailbox_of(email: str) -> str:
    parts = parse_address(email)
    if isinstance(parts, Parts):
        return canonical_address(parts.local_part, parts.ascii_domain)
    return email.lower()


def _digest(salt: str, text: str) -> str:
    """Stored in place of the text, which can't be read from it."""
    digest = salted_hmac(salt, text, secret=settings.ADDRESS_HASH_KEY, algorithm="sha256")
    return digest.hexdigest()
