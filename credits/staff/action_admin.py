"""Buttons on staff pages. Each opens a form, which calls one service."""

from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse

from accounts.audit.models import AuditEntry
from accounts.forms import OneTimeForm
from accounts.models import User
from accounts.staff.links import account_admin_list_url, admin_url
from accounts.staff.own_accounts import find_account, own_account_refusal
from accounts.staff.request import StaffRequest, staff_request
from credits.staff.previews import ActionPreview
from runtime.http.refusals import show_refusal

Row = TypeVar("Row", bound=Model)
FormData = dict[str, Any]


class StaffAction(Generic[Row]):
    slug: ClassVar[str]
    label: ClassVar[str]
    permission: ClassVar[str]
    description: ClassVar[str]
    form: ClassVar[type[Form]] = OneTimeForm
    # Whether a second page shows the changes.
    has_preview = False
    # Whether the object's page shows the refusal.
    shows_refusal = True

    def run(self, row: Row, data: FormData, actor: User) -> str:
        """Return a message to show."""
        raise NotImplementedError

    def preview(self, row: Row, data: FormData, actor: User) -> ActionPreview:
        raise NotImplementedError

    def initial(self, row: Row) -> FormData:
        return {}

    def is_available(self, row: Row) -> bool:
        return True

    def refusal(self, row: Row, user: User) -> str:
        return ""


class StaffActionsAdmin(admin.ModelAdmin[Row]):
    staff_actions: tuple[StaffAction[Row], ...] = ()
    change_form_template = "admin/credits/with_actions.html"

    def get_urls(self) -> list[URLPattern]:
        urls = [
            path(
                f"<path:object_id>/{action.slug}/",
                self.admin_site.admin_view(partial(self.perform, action=action)),
                name=self._url_name(action),
            )
            for action in self.staff_actions
        ]
        return urls + super().get_urls()

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        obj = self.get_object(request, object_id)
        if obj is None:
            return super().change_view(request, object_id, form_url, extra_context)
        user = staff_request(request).user
        own_refusal = own_account_refusal(user, obj)
        if own_refusal and request.method == "POST":
            messages.error(request, own_refusal)
            return redirect(admin_url(obj))
        context = {**(extra_context or {}), **self.describe_actions(user, obj)}
        return super().change_view(request, object_id, form_url, context)

    def describe_actions(self, user: User, obj: Row) -> dict[str, Any]:
        own_refusal = own_account_refusal(user, obj)
        links, refusals = [], [own_refusal]
        for action in self.staff_actions:
            if not (user.has_perm(action.permission) and action.is_available(obj)):
                continue
            refusal = own_refusal or action.refusal(obj, user)
            if not refusal:
                url = reverse(f"admin:{self._url_name(action)}", args=[obj.pk])
                links.append((url, action.label))
            elif action.shows_refusal:
                refusals.append(refusal)
        # Link to the audit log, as Django's history has no staff actions.
        account, log = find_account(obj), ""
        if account is not None and user.has_perm("accounts.view_auditentry"):
            log = account_admin_list_url(AuditEntry, account)
        return {
            "action_links": links,
            "action_refusals": list(filter(None, dict.fromkeys(refusals))),
            "audit_url": log,
        }

    def perform(
        self, request: StaffRequest, object_id: str, action: StaffAction[Row]
    ) -> HttpResponse:
        if not request.user.has_perm(action.permission):
            raise PermissionDenied(
                "Your staff group can't do this. Ask a colleague whose group can."
            )
        obj = self.get_object(request, object_id)
        if obj is None:
            raise Http404
        if refusal := _find_refusal(action, obj, request.user):
            messages.error(request, refusal)
            return redirect(admin_url(obj))
        form, preview = action.form(request.POST or None, initial=action.initial(obj)), None
        if form.is_valid():
            if action.has_preview:
                preview = action.preview(obj, form.cleaned_data, request.user)
            if preview is None or request.POST.get("preview") == preview.digest:
                with show_refusal(request):
                    messages.success(request, action.run(obj, form.cleaned_data, request.user))
                return redirect(admin_url(obj))
            if "preview" in request.POST:
                messages.warning(request, "The numbers have changed. Check them, then confirm.")
            for field in form.fields.values():
                field.widget = field.hidden_widget()
        context = {
            **self.admin_site.each_context(request),
            "title": f"{action.label}: {obj}",
            "action": action,
            "form": form,
            "preview": preview,
            "opts": self.opts,
            "object": obj,
            "page": admin_url(obj),
        }
        return render(request, "admin/credits/action.html", context)

    def _url_name(self, action: StaffAction[Row]) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{action.slug}"


def _find_refusal(action: StaffAction[Row], obj: Row, user: User) -> str:
    if not action.is_available(obj):
        state = getattr(obj, "get_state_display", lambda: "in another state now")()
        return f"“{action.label}” isn't possible: {obj} is {state.lower()}."
    return own_account_refusal(user, obj) or action.refusal(obj, user)
