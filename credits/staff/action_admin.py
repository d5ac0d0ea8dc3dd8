"""Buttons on staff pages. Each opens its own form, which calls one service."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.forms import Form
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse

from accounts.models import User
from accounts.staff.own_accounts import own_account_refusal


class StaffActionRefused(Exception):
    """Raised if a staff action isn't possible. The text is shown to the user."""


@dataclass(frozen=True)
class StaffAction:
    slug: str
    label: str
    permission: str
    form: type[Form]
    # Shown above the form.
    description: str
    # Takes the object, the form's data, and the request; returns a message that says what happened.
    run: Callable[[Any, dict[str, Any], Any], str]
    # Whether the action makes sense in the object's current state.
    is_available: Callable[[Any], bool] = lambda _: True
    # Why this user can't do it although it is available. Empty if they can.
    refusal: Callable[[Any, User], str] = lambda _object, _user: ""
    # Whether the page shows that reason in place of the button.
    shows_refusal: bool = True


class StaffActionsAdmin(admin.ModelAdmin[Any]):
    staff_actions: tuple[StaffAction, ...] = ()
    change_form_template = "admin/credits/with_actions.html"

    def get_urls(self) -> list[Any]:
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
        self, request: Any, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        obj = self.get_object(request, object_id)
        if obj is None:
            return super().change_view(request, object_id, form_url, extra_context)
        own_refusal = own_account_refusal(request.user, obj)
        if own_refusal and request.method == "POST":
            messages.error(request, own_refusal)
            return redirect(self._change_url(object_id))
        actions = [
            action
            for action in self.staff_actions
            if request.user.has_perm(action.permission) and action.is_available(obj)
        ]
        refusals = {
            action.slug: own_refusal or action.refusal(obj, request.user) for action in actions
        }
        links = [
            (reverse(f"admin:{self._url_name(action)}", args=[object_id]), action.label)
            for action in actions
            if not refusals[action.slug]
        ]
        # In the order of the buttons, without duplicates.
        shown = [
            own_refusal,
            *(refusals[action.slug] for action in actions if action.shows_refusal),
        ]
        reasons = [reason for reason in dict.fromkeys(shown) if reason]
        context = {**(extra_context or {}), "action_links": links, "action_refusals": reasons}
        return super().change_view(request, object_id, form_url, context)

    def perform(self, request: Any, object_id: str, action: StaffAction) -> HttpResponse:
        if not request.user.has_perm(action.permission):
            raise PermissionDenied("Your group does not do this. Ask a colleague who may.")
        obj = self.get_object(request, object_id)
        if obj is None:
            raise Http404
        if not action.is_available(obj):
            state = getattr(obj, "get_state_display", lambda: "otherwise now")()
            messages.error(request, f"{action.label} is not possible: {obj} is {state.lower()}.")
            return redirect(self._change_url(object_id))
        if refusal := own_account_refusal(request.user, obj) or action.refusal(obj, request.user):
            messages.error(request, refusal)
            return redirect(self._change_url(object_id))
        form = action.form(request.POST or None)
        if form.is_valid():
            try:
                messages.success(request, action.run(obj, form.cleaned_data, request))
            except StaffActionRefused as error:
                messages.error(request, str(error))
            return redirect(self._change_url(object_id))
        context = {
            **self.admin_site.each_context(request),
            "title": f"{action.label}: {obj}",
            "action": action,
            "form": form,
            "opts": self.opts,
            "object": obj,
            "page": self._change_url(object_id),
        }
        return render(request, "admin/credits/action.html", context)

    def _url_name(self, action: StaffAction) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{action.slug}"

    def _change_url(self, object_id: str) -> str:
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
        return reverse(name, args=[object_id])
