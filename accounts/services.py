from contextlib import suppress

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.db.models.fields.json import KT
from django.utils import timezone

from accounts import audit, emails, hooks
from accounts.events import record_event
from accounts.events.declared import ACCOUNT_REINSTATED, ACCOUNT_SUSPENDED
from accounts.models import Account, Invitation, Membership, User
from accounts.names import validate_name
from accounts.roles import Role
from runtime.http.refusals import Refused

MAX_OWNED_ACCOUNTS = 5


@transaction.atomic
def open_account(*, user: User, name: str = "") -> Account:
    account = Account.objects.create(name=name or _default_account_name(user))
    Membership.objects.create(account=account, user=user, role=Role.OWNER)
    audit.record(account, user, "account.opened", account.name)
    for set_up in hooks.on_account_opened:
        set_up(account=account)
    return account


@transaction.atomic
def open_another_account(*, user: User, name: str) -> Account:
    """Limit accounts: each gets free credits and can send invitations."""
    # Locked, so that concurrent requests can't both pass the limit.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    owned = Account.objects.open().filter(memberships__user=user, memberships__role=Role.OWNER)
    if owned.count() >= MAX_OWNED_ACCOUNTS:
        raise Refused(
            f"You already own {MAX_OWNED_ACCOUNTS} accounts, the maximum. Close one first."
        )
    account = open_account(user=user, name=name)
    # Users who joined by invitation confirmed their address before.
    run_email_confirmed_hooks(user=user)
    return account


@transaction.atomic
def rename_user(*, user: User, name: str, account: Account | None) -> None:
    user.name = name
    user.save(update_fields=["name"])
    audit.record(account, user, "user.renamed", name)


def change_preferences(*, user: User, theme: str, time_zone: str, date_format: str) -> None:
    """Preferences aren't audited, as they concern no one else."""
    user.theme, user.time_zone, user.date_format = theme, time_zone, date_format
    user.save(update_fields=["theme", "time_zone", "date_format"])


@transaction.atomic
def create_confirmed_user(*, email: str, password: str, staff: bool = False) -> User:
    """The operator vouches for the address."""
    create = User.objects.create_superuser if staff else User.objects.create_user
    user = create(email, password)
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    return user


def run_email_confirmed_hooks(*, user: User, by_operator: bool = False) -> None:
    for handle in hooks.on_email_confirmed:
        handle(user=user, by_operator=by_operator)


@transaction.atomic
def rename_account(*, account: Account, name: str, actor: User) -> None:
    before = account.name
    account.name = name
    account.save(update_fields=["name"])
    audit.record(account, actor, "account.renamed", f"{before} → {name}")


@transaction.atomic
def change_log_days(*, account: Account, days: int | None, actor: User) -> None:
    """None means the maximum. A daily job deletes older entries."""
    before = account.log_retention_days
    account.log_days = days
    account.log_since = account.log_starts_at
    account.save(update_fields=["log_days", "log_since"])
    target = f"{before} → {account.log_retention_days} days"
    audit.record(account, actor, "account.log_days_changed", target)


@transaction.atomic
def suspend_account(*, account: Account, actor: User, reason: str = "") -> None:
    """Owners and admins read the reason in the audit log."""
    if Account.objects.filter(pk=account.pk, suspended_at=None).update(suspended_at=timezone.now()):
        audit.record(account, actor, "account.suspended", reason or account.name)
        record_event(account, ACCOUNT_SUSPENDED, {"state": "suspended"})


@transaction.atomic
def lift_suspension(*, account: Account, actor: User) -> None:
    suspended = Account.objects.filter(pk=account.pk).exclude(suspended_at=None)
    if suspended.update(suspended_at=None):
        audit.record(account, actor, "account.suspension_lifted", account.name)
        record_event(account, ACCOUNT_REINSTATED, {"state": "open"})


@transaction.atomic
def close_account(*, account: Account, actor: User) -> None:
    if not Account.objects.open().filter(pk=account.pk).update(closed_at=timezone.now()):
        return
    account.refresh_from_db()
    audit.record(account, actor, "account.closed", account.name)
    for clean_up in hooks.on_account_closed:
        clean_up(account=account, actor=actor)
    account.invitations.pending().delete()
    for membership in account.memberships.select_related("user"):
        if membership.role == Role.OWNER:
            emails.queue_account_closed(account=account, to=membership.user.email)
        if not membership.user.memberships.in_open_accounts().exists():
            for session in UserSession.objects.filter(user=membership.user):
                session.end()


@transaction.atomic
def reopen_account(*, account: Account, actor: User) -> None:
    closed = Account.objects.filter(pk=account.pk, erased_at=None).exclude(closed_at=None)
    if closed.update(closed_at=None):
        audit.record(account, actor, "account.reopened", account.name)


@transaction.atomic
def export_account(*, account: Account, actor: User) -> dict[str, object]:
    """Upper layers add sections."""
    audit.record(account, actor, "account.exported", account.name)
    export: dict[str, object] = {
        "exported_at": timezone.now(),
        "account": {
            "id": account.public_id,
            "name": account.name,
            "created_at": account.created_at,
            "requests_per_minute": account.request_limit,
            "log_days": account.log_retention_days,
            "requires_second_factor": account.requires_second_factor,
        },
        "members": [
            _member_data(membership) for membership in account.memberships.select_related("user")
        ],
        "invitations": list(
            Invitation.objects.pending()
            .filter(account=account)
            .values("email", "role", "created_at", "expires_at")
        ),
        "audit_log": [
            {
                "at": entry.at,
                "who": entry.who,
                "action": entry.action,
                "what": entry.action_label,
                "target": entry.target,
                "ip": entry.shown_ip,
            }
            for entry in account.audit_entries.iterator()
        ],
        "emails_turned_off": sorted(account.muted_emails.values_list("type", flat=True)),
    }
    for export_sections in hooks.on_account_exported:
        export.update(export_sections(account=account))
    return export


def _member_data(membership: Membership) -> dict[str, object]:
    user = membership.user
    return {
        "email": user.email,
        "name": user.name,
        "role": membership.role,
        "joined_at": membership.joined_at,
        "terms_version": user.terms_version,
        "terms_agreed_at": user.terms_agreed_at,
        "sign_in_providers": list(
            SocialAccount.objects.filter(user=user)
            .order_by("pk")
            .values("provider", account=KT("extra_data__label"), connected_at=F("date_joined"))
        ),
    }


def _default_account_name(user: User) -> str:
    name = user.email.partition("@")[0][:100]
    with suppress(ValidationError):
        validate_name(name)
        return name or "My account"
    return "My account"


@transaction.atomic
def agree_to_terms(*, user: User, account: Account | None) -> None:
    """The terms include the data processing agreement."""
    user.terms_version = settings.TERMS_VERSION
    user.terms_agreed_at = timezone.now()
    user.save(update_fields=["terms_version", "terms_agreed_at"])
    audit.record(account, user, "user.terms_agreed", f"version of {user.terms_version}")
