"""Sign-up credits: the first month of the Free plan, once per account and mailbox.

Domain owners can create any number of mailboxes, so accounts at a registrable domain share a few
places, free again after 30 days. Free email providers have no limit.
"""

from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import Account, User
from accounts.roles import Role
from credits.models import EntryKind, Plan, SignUpPlace, Subscription
from credits.services import post_entry
from engine import DOMAIN_DATA, AddressParts, canonical_address, parse_address, to_unicode

PERIOD = timedelta(days=30)


class NoPlaceLeft(Exception):
    """Raised if all places of a domain are taken."""


@transaction.atomic
def grant_sign_up_credits(*, user: User, by_operator: bool) -> None:
    """An operator vouches for the domain."""
    account = Account.objects.first_owned_by(user.email)
    if account is None or not Account.objects.lock_if_open(account):
        return
    subscription = Subscription.objects.get(account=account)
    if subscription.gets_free_credits or account.ledger.filter(kind=EntryKind.SIGNUP).exists():
        return
    try:
        is_first = _post(account, user.email, by_operator=by_operator)
    except NoPlaceLeft:
        subscription.domain_had_free_credits = True
    else:
        subscription.gets_free_credits = is_first
        subscription.domain_had_free_credits = False
    subscription.save(update_fields=["gets_free_credits", "domain_had_free_credits"])


def domain_without_credits(account: Account) -> str:
    """Return the domain whose limit denied the credits, if any."""
    subscription = account.subscription
    if not subscription.domain_had_free_credits or subscription.gets_top_ups:
        return ""
    owner = account.memberships.filter(role=Role.OWNER).select_related("user").first()
    return to_unicode(DOMAIN_DATA.find_owner(_email_domain(owner.user.email))) if owner else ""


def delete_old_places() -> None:
    SignUpPlace.objects.filter(taken_at__lte=timezone.now() - PERIOD).delete()


@transaction.atomic
def _post(account: Account, email: str, *, by_operator: bool) -> bool:
    """Post the credits, unless the mailbox had them. NoPlaceLeft rolls this back."""
    free, mailbox, parts = Plan.objects.free(), email.lower(), parse_address(email)
    if isinstance(parts, AddressParts):
        mailbox = canonical_address(parts.local_part, parts.ascii_domain)
    is_first = post_entry(
        account=account,
        kind=EntryKind.SIGNUP,
        amount=free.monthly_credits,
        source=f"signup:{_digest('credits.mailbox', mailbox)}",
        actor=None,
        reason=f"First month of the {free} plan",
    )
    if is_first and not by_operator:
        _claim_place(_email_domain(email))
    return is_first


def _claim_place(domain: str) -> None:
    """The unique constraint enforces the limit."""
    if domain in DOMAIN_DATA.free_providers:
        return
    digest = _digest("credits.domain", DOMAIN_DATA.find_owner(domain))
    now = timezone.now()
    for slot in range(settings.SIGN_UP_CREDITS_PER_DOMAIN):
        place, is_new = SignUpPlace.objects.get_or_create(
            domain_digest=digest, slot=slot, defaults={"taken_at": now}
        )
        expired = SignUpPlace.objects.filter(pk=place.pk, taken_at__lte=now - PERIOD)
        if is_new or expired.update(taken_at=now):
            return
    raise NoPlaceLeft


def _email_domain(email: str) -> str:
    parts = parse_address(email)
    return (
        parts.ascii_domain if isinstance(parts, AddressParts) else email.lower().rpartition("@")[2]
    )


def _digest(salt: str, text: str) -> str:
    digest = salted_hmac(salt, text, secret=settings.ADDRESS_HASH_KEY, algorithm="sha256")
    return digest.hexdigest()
