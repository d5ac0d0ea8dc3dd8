"""What staff see of customers. Buttons call the services; nothing here decides."""

from typing import Any, ClassVar

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import pluralize

from accounts import audit, emails, services
from accounts.audit_admin import AuditEntryAdmin
from accounts.changes import changes_in
from accounts.group_admin import GroupAdmin
from accounts.models import Account, AuditEntry, Invitation, Membership, User
from accounts.own_accounts import refusal_for, without_own
from accounts.read_only import ReadOnlyAdmin, ReadOnlyInline
from accounts.second_factor import name_of
from runtime.models import Lease, Mail


class MemberInline(ReadOnlyInline):
    model = Membership
    fields = ("user", "role", "joined_at")
    readonly_fields = fields


class StateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("open", "Open"), ("suspended", "Suspended"), ("closed", "Closed")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "open":
            return queryset.filter(closed_at=None, suspended_at=None)
        if self.value() == "suspended":
            return queryset.filter(closed_at=None).exclude(suspended_at=None)
        if self.value() == "closed":
            return queryset.exclude(closed_at=None)
        return queryset


@admin.register(Account)
class AccountAdmin(admin.ModelAdmin[Account]):
    list_display: tuple[str, ...] = (
        "name",
        "public_id",
        "state",
        "members",
        "created_at",
    )
    list_filter: ClassVar[tuple[Any, ...]] = (StateFilter, "created_at")
    search_fields = ("name", "public_id", "memberships__user__email")
    search_help_text = "Name, acc_… or a member's e-mail"
    date_hierarchy = "created_at"
    readonly_fields = (
        "public_id",
        "created_at",
        "suspended_at",
        "closed_at",
        "erased_at",
        "requests_per_minute",
        "log_days",
    )
    inlines: ClassVar[tuple[type[ReadOnlyInline], ...]] = (MemberInline,)
    actions = ("suspend", "lift_suspension", "reopen")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Account]:
        return super().get_queryset(request).annotate(member_count=Count("memberships"))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: Any, obj: Account | None = None) -> bool:
        is_own = obj is not None and bool(refusal_for(request.user, obj))
        return not is_own and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Account | None = None) -> bool:
        return False

    def save_model(self, request: Any, obj: Account, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if changes := changes_in(form):
            audit.record(obj, request.user, "account.changed_by_staff", changes, request.ip)

    def has_suspend_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.suspend_account")

    @admin.display(ordering="member_count")
    def members(self, account: Any) -> int:
        return int(account.member_count)

    @admin.display
    def state(self, account: Account) -> str:
        if account.erased_at:
            return "Erased"
        if account.closed_at:
            return "Closed"
        return "Suspended" if account.suspended_at else "Open"

    @admin.action(description="Suspend: keys answer 403", permissions=["suspend"])
    def suspend(self, request: Any, accounts: QuerySet[Account]) -> None:
        accounts = without_own(self, request, accounts, "pk")
        for account in accounts:
            services.suspend_account(account=account, actor=request.user, ip=request.ip)
        self.message_user(request, f"Suspended: {_names(accounts)}.")

    @admin.action(description="Lift the suspension", permissions=["suspend"])
    def lift_suspension(self, request: Any, accounts: QuerySet[Account]) -> None:
        accounts = without_own(self, request, accounts, "pk")
        for account in accounts:
            services.lift_suspension(account=account, actor=request.user, ip=request.ip)
        self.message_user(request, f"No longer suspended: {_names(accounts)}.")

    @admin.action(description="Reopen what was closed", permissions=["suspend"])
    def reopen(self, request: Any, accounts: QuerySet[Account]) -> None:
        accounts = without_own(self, request, accounts, "pk")
        for account in accounts:
            services.reopen_account(account=account, actor=request.user, ip=request.ip)
        self.message_user(request, f"Open again: {_names(accounts.filter(closed_at=None))}.")


class MembershipInline(ReadOnlyInline):
    model = Membership
    fields = ("account", "role", "joined_at")
    readonly_fields = fields


STAFF_FIELDS = ("is_active", "is_staff", "is_superuser", "groups")
DATES = ("date_joined", "last_login", "terms_version", "terms_agreed_at")


@admin.register(User)
class UserAdmin(DjangoUserAdmin[User]):
    """Users come by sign-up or create_account, change their address themselves, and leave by
    closing their account: each of these does more than this row."""

    list_display = ("email", "name", "is_active", "is_staff", "date_joined", "last_login")
    list_filter = ("is_staff", "is_active", "groups", "date_joined")
    search_fields = ("email", "name")
    ordering = ("-date_joined",)
    inlines = (MembershipInline,)
    readonly_fields = ("email", *DATES)
    fieldsets = (
        (None, {"fields": ("email", "name")}),
        ("Staff", {"fields": STAFF_FIELDS}),
        ("Dates", {"fields": DATES}),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Who is staff, and what they may do, is for superusers to say, whatever a group allows."""
        fields = super().get_readonly_fields(request, obj)
        return fields if request.user.is_superuser else (*fields, *STAFF_FIELDS)

    def save_model(self, request: Any, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if changes := changes_in(form):
            action, target = "user.changed_by_staff", f"{obj.email}: {changes}"
            audit.record_of_user(obj, request.user, action, target, request.ip)

    def user_change_password(self, *args: Any, **kwargs: Any) -> HttpResponse:
        """Whoever knows a customer's password could act as them."""
        raise PermissionDenied("People set their own password, with a link that is mailed to them.")


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    list_display = ("user", "account", "role", "joined_at")
    list_filter = ("role", "joined_at")
    list_select_related = ("user", "account")
    search_fields = ("user__email", "account__name", "account__public_id")


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ("email", "account", "role", "created_at", "expires_at", "accepted_at")
    list_select_related = ("account",)
    search_fields = ("email", "account__name", "account__public_id")
    exclude = ("token",)


class MailStateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("waiting", "Waiting"), ("sent", "Sent"), ("given_up", "Given up")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "waiting":
            return queryset.filter(sent_at=None, given_up_at=None)
        if self.value() == "sent":
            return queryset.exclude(sent_at=None)
        if self.value() == "given_up":
            return queryset.exclude(given_up_at=None)
        return queryset


@admin.register(Mail)
class MailAdmin(ReadOnlyAdmin):
    list_display = ("to", "subject", "created_at", "sent_at", "attempts", "last_error")
    list_filter = (MailStateFilter, "created_at")
    search_fields = ("to", "subject")
    # Codes and links in the body open accounts: they are for the recipient alone.
    exclude = ("text", "html")
    actions = ("send_again",)

    def has_send_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("runtime.change_mail")

    @admin.action(description="Send again what was given up", permissions=["send"])
    @transaction.atomic
    def send_again(self, request: Any, mails: Any) -> None:
        number: int = mails.send_again()
        words = f"{number} mail{pluralize(number)}"
        if number:
            audit.record(None, request.user, "mail.sent_again", words, request.ip)
        self.message_user(request, f"{words} will be tried again.")


admin.site.unregister(Group)
admin.site.register(Group, GroupAdmin)
admin.site.unregister(EmailAddress)


@admin.register(EmailAddress)
class EmailAddressAdmin(ReadOnlyAdmin):
    """Only who reads the mailbox can say that an address is theirs."""

    list_display = ("email", "user", "primary", "verified")
    list_filter = ("primary", "verified")
    list_select_related = ("user",)
    search_fields = ("email",)


admin.site.unregister(Authenticator)
# Its rows name session keys, which open what they belong to.
admin.site.unregister(UserSession)


@admin.register(Authenticator)
class SecondFactorAdmin(ReadOnlyAdmin):
    """For who lost theirs: staff remove it, and never see the secret behind it."""

    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    list_select_related = ("user",)
    search_fields = ("user__email",)
    exclude = ("data",)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("mfa.delete_authenticator")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Authenticator]:
        """Staff remove their own factor on the Security page, which asks for a proof of it."""
        return super().get_queryset(request).exclude(user=request.user.pk)

    def delete_model(self, request: Any, obj: Authenticator) -> None:
        self._tell(request, obj)
        super().delete_model(request, obj)

    @transaction.atomic
    def delete_queryset(self, request: Any, queryset: QuerySet[Authenticator]) -> None:
        for authenticator in queryset:
            self._tell(request, authenticator)
        super().delete_queryset(request, queryset)

    @staticmethod
    def _tell(request: Any, authenticator: Authenticator) -> None:
        kind, user = name_of(authenticator), authenticator.user
        action, target = "user.second_factor_removed_by_staff", f"{user.email}: {kind}"
        audit.record_of_user(user, request.user, action, target, request.ip)
        emails.queue_second_factor_removed(to=user.email, kind=kind)


admin.site.register(AuditEntry, AuditEntryAdmin)


@admin.register(Lease)
class LeaseAdmin(ReadOnlyAdmin):
    list_display = ("name", "holder", "until", "done_for")


def _names(accounts: QuerySet[Account]) -> str:
    return ", ".join(account.name for account in accounts) or "none"
