from datetime import date
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from accounts.date_display import DateFormat
from accounts.names import validate_name


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
