"""Buttons on staff pages. Each opens its own form, which calls one service."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse

from accounts.audit.models import AuditEntry
from accounts.models import User
from accounts.staff.own_accounts import find_account, own_account_refusal
from accounts.staff.panels import account_admin_list_url
from accounts.staff.request import StaffRequest, staff_request
from credits.staff.previews import Preview

Row = TypeVar("Row", bound=Model)
# As Django types a form's cleaned data.
FormData = dict[str, Any]


class StaffActionRefused(Exception):
    """Raised if a staff action isn't possible. The text is shown to the user."""


@dataclass(frozen=True)
class StaffAction(Generic[Row]):
    slug: str
    label: str
    permission: str
    form: Callable[..., Form]
    # Shown above the form.
    description: str
    # Returns a message that says what happened.
    run: Callable[[Row, FormData, StaffRequest], str]
    # Whether the action makes sense in the object's current state.
    is_available: Callable[[Row], bool] = lambda _: True
    # Why this user can't do it although it is available. Empty if they can.
    refusal: Callable[[Row, User], str] = lambda _object, _user: ""
    # Whether the page shows that reason in place of the button.
    shows_refusal: bool = True
    # What the action will change. Shown with the form, or after it if the input decides.
    preview: Callable[[Row, FormData, StaffRequest], Preview] = lambda *_: Preview()
    initial: Callable[[Row], FormData] = lambda _: {}
    # Whether the action depends on the input, so a second page shows its preview to confirm it.
    is_confirmed: bool = False


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
            return redirect(self._change_url(object_id))
        links, refusals = self._offer_actions(obj, user, own_refusal)
        context = {
            **(extra_context or {}),
            "action_links": links,
            "action_refusals": refusals,
            "audit_url": _audit_url(obj, user),
        }
        return super().change_view(request, object_id, form_url, context)

    def _offer_actions(
        self, obj: Row, user: User, own_refusal: str
    ) -> tuple[list[tuple[str, str]], list[str]]:
        """Return the links of the buttons, and the reasons shown in place of the others."""
        links, reasons = [], [own_refusal]
        for action in self.staff_actions:
            if not (user.has_perm(action.permission) and action.is_available(obj)):
                continue
            refusal = own_refusal or action.refusal(obj, user)
            if not refusal:
                url = reverse(f"admin:{self._url_name(action)}", args=[obj.pk])
                links.append((url, action.label))
            elif action.shows_refusal:
                reasons.append(refusal)
        # In the order of the buttons, without duplicates.
        return links, [reason for reason in dict.fromkeys(reasons) if reason]

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
        if refusal := _refusal(action, obj, request.user):
            messages.error(request, refusal)
            return redirect(self._change_url(object_id))
        form = action.form(request.POST or None, initial=action.initial(obj))
        if not form.is_valid():
            preview = None if action.is_confirmed else action.preview(obj, {}, request)
            return self._render_action(request, action, obj, form, preview)
        preview = action.preview(obj, form.cleaned_data, request)
        if action.is_confirmed and request.POST.get("preview") != preview.digest:
            if "preview" in request.POST:
                messages.warning(request, "The numbers have changed. Check them, then confirm.")
            for field in form.fields.values():
                field.widget = field.hidden_widget()
            return self._render_action(request, action, obj, form, preview)
        return self._run(request, action, obj, form)

    def _run(
        self, request: StaffRequest, action: StaffAction[Row], obj: Row, form: Form
    ) -> HttpResponse:
        try:
            messages.success(request, action.run(obj, form.cleaned_data, request))
        except StaffActionRefused as error:
            messages.error(request, str(error))
        return redirect(self._change_url(str(obj.pk)))

    def _render_action(
        self,
        request: StaffRequest,
        action: StaffAction[Row],
        obj: Row,
        form: Form,
        preview: Preview | None,
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": f"{action.label}: {obj}",
            "action": action,
            "form": form,
            "preview": preview,
            "opts": self.opts,
            "object": obj,
            "page": self._change_url(str(obj.pk)),
        }
        return render(request, "admin/credits/action.html", context)

    def _url_name(self, action: StaffAction[Row]) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{action.slug}"

    def _change_url(self, object_id: str) -> str:
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
        return reverse(name, args=[object_id])


def _audit_url(obj: Model, user: User) -> str:
    """Return the URL of the account's audit log. Django's history has no staff actions."""
    account = find_account(obj)
    if account is None or not user.has_perm("accounts.view_auditentry"):
        return ""
    return account_admin_list_url(AuditEntry, account)


def _refusal(action: StaffAction[Row], obj: Row, user: User) -> str:
    """Return why the user can't perform the action on this object, or an empty string."""
    if not action.is_available(obj):
        state = getattr(obj, "get_state_display", lambda: "in another state now")()
        return f"“{action.label}” isn't possible: {obj} is {state.lower()}."
    return own_account_refusal(user, obj) or action.refusal(obj, user)
