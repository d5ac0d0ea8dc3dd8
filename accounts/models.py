from datetime import date, datetime, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.audit.models import AuditEntry
from accounts.date_display import DateFormat
from accounts.names import validate_name
from accounts.roles import Role, TeamPermission, has_permission, roles_assignable_by
from runtime.ids import random_id

__all__ = ["Account", "AuditEntry", "Invitation", "Membership", "Theme", "User"]


def account_id() -> str:
    return random_id("acc")


def membership_id() -> str:
    return random_id("mem")


def invitation_id() -> str:
    return random_id("inv")


class UserManager(BaseUserManager["User"]):
    def never_confirmed(self) -> "models.QuerySet[User]":
        return self.filter(is_staff=False, last_login=None).exclude(emailaddress__verified=True)

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=email.lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=(username or "").lower())


class Theme(models.TextChoices):
    SYSTEM = "", "Same as the system"
    LIGHT = "light", "Light"
    DARK = "dark", "Dark"


class User(AbstractBaseUser, PermissionsMixin):
    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=100, blank=True, validators=[validate_name])
    is_staff = models.BooleanField("staff", default=False, help_text="Can open the admin.")
    is_active = models.BooleanField("active", default=True, help_text="Can sign in.")
    date_joined = models.DateTimeField(default=timezone.now)
    theme = models.CharField(
        max_length=5, blank=True, choices=Theme.choices, default=Theme.SYSTEM, db_default=""
    )
    # Empty for the browser's time zone.
    time_zone = models.CharField(max_length=64, blank=True, default="", db_default="")
    date_format = models.CharField(
        max_length=3,
        choices=DateFormat.choices,
        default=DateFormat.DAY_FIRST,
        db_default=DateFormat.DAY_FIRST.value,
    )
    # Null for users that the operator created.
    terms_version = models.DateField(null=True, editable=False)
    terms_agreed_at = models.DateTimeField(null=True, editable=False)
    # Null until the first change.
    password_changed_at = models.DateTimeField(null=True, editable=False)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(email=Lower("email")), name="user_email_is_lower_case"
            )
        ]

    def __str__(self) -> str:
        return self.email

    def display_name(self) -> str:
        return self.name or self.email

    @property
    def newer_terms(self) -> date | None:
        newest: date = settings.TERMS_VERSION
        return newest if self.terms_version and self.terms_version < newest else None

    def has_only_closed_accounts(self) -> bool:
        closing_times = list(self.memberships.values_list("account__closed_at", flat=True))
        return bool(closing_times) and None not in closing_times


class AccountQuerySet(models.QuerySet["Account"]):
    def open(self) -> "AccountQuerySet":
        return self.filter(closed_at=None)

    def lock_if_open(self, account: "Account") -> bool:
        """Return False if the account is closed.

        Callers that count rows against a limit lock it first.
        """
        return self.open().select_for_update(no_key=True).filter(pk=account.pk).first() is not None

    def first_owned_by(self, email: str) -> "Account | None":
        """Return the open account that the user has owned the longest."""
        owned = self.open().filter(
            memberships__user__email=email.lower(), memberships__role=Role.OWNER
        )
        return owned.order_by("memberships__joined_at", "pk").first()

    def due_for_erasure(self) -> "AccountQuerySet":
        before = timezone.now() - timedelta(days=settings.CLOSED_ACCOUNT_DAYS)
        return self.filter(closed_at__lt=before, erased_at=None)


class Account(models.Model):
    public_id = models.CharField(
        "ID", max_length=30, unique=True, editable=False, default=account_id
    )
    name = models.CharField(max_length=100, validators=[validate_name])
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    suspended_at = models.DateTimeField(null=True, blank=True, editable=False)
    closed_at = models.DateTimeField(null=True, blank=True, editable=False)
    erased_at = models.DateTimeField(null=True, blank=True, editable=False)
    # Set by `credits`. Staff may override it.
    requests_per_minute = models.PositiveIntegerField(
        default=60, validators=[MinValueValidator(1)], editable=False
    )
    requests_per_minute_override = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )
    # Retention of the request log. Null: the maximum. 0: nothing is logged.
    log_days = models.PositiveSmallIntegerField(null=True, editable=False)
    # Older entries stay hidden when the retention is raised.
    log_since = models.DateTimeField(null=True, editable=False)
    # Random, for each version of the account's domains. Null: none.
    domains_version = models.BigIntegerField(null=True, editable=False)
    second_factor_required_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = AccountQuerySet.as_manager()

    class Meta:
        permissions = [("suspend_account", "Can suspend, lift and reopen accounts")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(requests_per_minute__gte=1), name="account_rate_is_positive"
            ),
            models.CheckConstraint(
                condition=models.Q(requests_per_minute_override__isnull=True)
                | models.Q(requests_per_minute_override__gte=1),
                name="account_rate_override_is_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.closed_at is None

    @property
    def state(self) -> str:
        if self.closed_at:
            return "Erased" if self.erased_at else "Closed"
        return "Suspended" if self.suspended_at else "Open"

    @property
    def requires_second_factor(self) -> bool:
        return self.second_factor_required_at is not None

    @property
    def request_limit(self) -> int:
        return self.requests_per_minute_override or self.requests_per_minute

    @property
    def log_retention_days(self) -> int:
        max_days: int = settings.LOG_RETENTION_DAYS
        return max_days if self.log_days is None else min(self.log_days, max_days)

    @property
    def log_starts_at(self) -> datetime:
        """Older entries are deleted daily."""
        retention_start = timezone.now() - timedelta(days=self.log_retention_days)
        return max(retention_start, self.log_since) if self.log_since else retention_start

    @property
    def erased_after(self) -> datetime | None:
        return self.closed_at and self.closed_at + timedelta(days=settings.CLOSED_ACCOUNT_DAYS)


class MembershipQuerySet(models.QuerySet["Membership"]):
    def in_open_accounts(self) -> "MembershipQuerySet":
        return self.filter(account__closed_at=None).select_related("account")


class Membership(models.Model):
    public_id = models.CharField(
        "ID", max_length=30, unique=True, editable=False, default=membership_id
    )
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role)
    joined_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "user"], name="membership_once_per_user"),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="membership_role_is_known"
            ),
        ]
        ordering = ["joined_at", "pk"]

    def __str__(self) -> str:
        return f"{self.user} in {self.account}"

    def has_permission(self, permission: TeamPermission) -> bool:
        return has_permission(Role(self.role), permission)


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def pending(self) -> "InvitationQuerySet":
        return self.filter(accepted_at=None, expires_at__gt=timezone.now())

    def by_token(self, token: str) -> "Invitation | None":
        digest = Invitation.digest(token)
        invitations = self.pending().filter(account__closed_at=None, token=digest)
        invitation = invitations.select_related("account", "invited_by").first()
        return invitation if invitation and invitation.has_authorized_inviter() else None


class Invitation(models.Model):
    public_id = models.CharField(
        "ID", max_length=30, unique=True, editable=False, default=invitation_id
    )
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=20, choices=Role)
    # A digest. Only the email has the token.
    token = models.CharField(max_length=64, unique=True, editable=False)
    invited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, editable=False)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "email"],
                condition=models.Q(accepted_at=None),
                name="invitation_waits_once_per_email",
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="invitation_role_is_known"
            ),
        ]
        ordering = ["created_at", "pk"]

    def __str__(self) -> str:
        return f"{self.email} to {self.account}"

    def has_authorized_inviter(self) -> bool:
        """Return whether the inviter may still assign the role."""
        members = Membership.objects.filter(account=self.account_id, user__is_active=True)
        inviter = members.filter(user=self.invited_by_id).first()
        return inviter is not None and Role(self.role) in roles_assignable_by(Role(inviter.role))

    @staticmethod
    def digest(token: str) -> str:
        return salted_hmac("accounts.invitation", token, algorithm="sha256").hexdigest()
