from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.admin import RelatedFieldListFilter
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import ManyToManyField, QuerySet
from django.forms import ModelForm, ModelMultipleChoiceField
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

from accounts import audit, emails
from accounts.authentication.providers.connections import connection_name, usable_connections
from accounts.authentication.second_factor.factors import authenticator_name
from accounts.models import User
from accounts.staff.links import account_link
from accounts.staff.model_admins.checkboxes import Checkboxes
from accounts.staff.model_admins.form_diff import describe_changes
from accounts.staff.read_only import FixedRows, ReadOnlyAdmin
from accounts.staff.request import staff_request


class StaffGroupFilter(RelatedFieldListFilter):
    """Offer no choice “Empty”: nearly all users are in no group."""

    include_empty_choice = False


STAFF_FIELDS = ("is_active", "is_staff", "is_superuser", "groups")
DATES = ("date_joined", "last_login", "terms_version", "terms_agreed_at")


class UserAdmin(FixedRows, DjangoUserAdmin[User]):
    """Don't add or delete users or change addresses: this would affect more than the row."""

    list_display = ("email", "name", "is_active", "is_staff", "date_joined", "last_login")
    list_filter = ("is_staff", "is_active", ("groups", StaffGroupFilter), "date_joined")
    search_fields = ("email", "name")
    ordering = ("-date_joined",)
    readonly_fields = ("email", "accounts", "sign_in_providers", *DATES)
    fieldsets = (
        (None, {"fields": ("email", "name", "accounts", "sign_in_providers")}),
        ("Staff", {"fields": STAFF_FIELDS}),
        ("Dates", {"fields": DATES}),
    )
    filter_horizontal = ()

    def formfield_for_manytomany(
        self, db_field: ManyToManyField[Any, Any], request: HttpRequest, **options: Any
    ) -> ModelMultipleChoiceField[Any] | None:
        options["widget"] = Checkboxes(str(db_field.verbose_name))
        return super().formfield_for_manytomany(db_field, request, **options)

    @admin.display
    def accounts(self, user: User) -> SafeString:
        memberships = user.memberships.select_related("account").order_by("joined_at", "pk")
        links = [(account_link(row.account), row.get_role_display()) for row in memberships]
        rows = ((link.url, link.text, role) for link, role in links)
        return format_html_join(mark_safe("<br>"), '<a href="{}"><bdi>{}</bdi></a> ({})', rows)

    @admin.display(description="Sign-in providers")
    def sign_in_providers(self, user: User) -> str:
        return ", ".join(map(connection_name, usable_connections(user)))

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        fields = tuple(map(str, super().get_readonly_fields(request, obj)))
        return fields if request.user.is_superuser else (*fields, *STAFF_FIELDS)

    def save_model(
        self, request: HttpRequest, obj: User, form: ModelForm[User], change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        if changes := describe_changes(form):
            action, target = "user.changed_by_staff", f"{obj.email}: {changes}"
            audit.record_for_user(obj, staff_request(request).user, action, target)

    def user_change_password(self, *args: object, **kwargs: object) -> HttpResponse:
        """Refuse: staff who know a password could act as the customer."""
        raise PermissionDenied("Staff can't set passwords. Ask the user to reset their own.")


class EmailAddressAdmin(ReadOnlyAdmin):
    """Show addresses read-only, as only a code or link confirms them."""

    list_display = ("email", "user", "primary", "verified")
    list_filter = ("primary", "verified")
    list_select_related = ("user",)
    search_fields = ("email",)


class SecondFactorAdmin(ReadOnlyAdmin):
    """Let staff remove lost factors, without showing secrets."""

    list_display = ("user", "type", "created_at", "last_used_at")
    list_filter = ("type",)
    list_select_related = ("user",)
    search_fields = ("user__email",)
    exclude = ("data",)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.has_perm("mfa.delete_authenticator")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Authenticator]:
        """Exclude own factors, which the security page removes after a proof."""
        return super().get_queryset(request).exclude(user=request.user.pk)

    def delete_model(self, request: HttpRequest, obj: Authenticator) -> None:
        self._record_removal(request, obj)
        super().delete_model(request, obj)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Authenticator]) -> None:
        for authenticator in queryset:
            self._record_removal(request, authenticator)
        super().delete_queryset(request, queryset)

    @staticmethod
    def _record_removal(request: HttpRequest, authenticator: Authenticator) -> None:
        kind, user = authenticator_name(authenticator), authenticator.user
        action, target = "user.second_factor_removed_by_staff", f"{user.email}: {kind}"
        audit.record_for_user(user, staff_request(request).user, action, target)
        emails.queue_second_factor_removed(to=user.email, kind=kind)
