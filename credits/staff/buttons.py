"""Buttons on a staff page: each opens a form of its own, and calls one service."""

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
from accounts.staff.own_accounts import refusal_for


class StaffActionRefused(Exception):
    """The text is for the person who tried."""


@dataclass(frozen=True)
class StaffAction:
    slug: str
    label: str
    permission: str
    form: type[Form]
    # What it does, said on its page.
    words: str
    # Handed the object, the form's data and the request; answers what happened.
    run: Callable[[Any, dict[str, Any], Any], str]
    # Whether it makes sense for this object now.
    fits: Callable[[Any], bool] = lambda _: True
    # Why this user can't do it to this object although it fits. Empty if they can.
    refusal: Callable[[Any, User], str] = lambda _row, _user: ""
    # Whether the page gives that reason in place of the button.
    explains: bool = True


class StaffActionsAdmin(admin.ModelAdmin[Any]):
    acts: tuple[StaffAction, ...] = ()
    change_form_template = "admin/credits/with_acts.html"

    def get_urls(self) -> list[Any]:
        own = [
            path(
                f"<path:object_id>/{act.slug}/",
                self.admin_site.admin_view(partial(self.perform, act=act)),
                name=self._name(act),
            )
            for act in self.acts
        ]
        return own + super().get_urls()

    def change_view(
        self, request: Any, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        shown = self.get_object(request, object_id)
        if shown is None:
            return super().change_view(request, object_id, form_url, extra_context)
        own = refusal_for(request.user, shown)
        if own and request.method == "POST":
            messages.error(request, own)
            return redirect(self._page(object_id))
        acts = [
            act for act in self.acts if request.user.has_perm(act.permission) and act.fits(shown)
        ]
        refusals = {act.slug: own or act.refusal(shown, request.user) for act in acts}
        links = [
            (reverse(f"admin:{self._name(act)}", args=[object_id]), act.label)
            for act in acts
            if not refusals[act.slug]
        ]
        # In the order of the buttons, each reason once.
        given = [refusals[act.slug] for act in acts if act.explains]
        reasons = [reason for reason in dict.fromkeys([own, *given]) if reason]
        context = {**(extra_context or {}), "act_links": links, "act_refusals": reasons}
        return super().change_view(request, object_id, form_url, context)

    def perform(self, request: Any, object_id: str, act: StaffAction) -> HttpResponse:
        if not request.user.has_perm(act.permission):
            raise PermissionDenied("Your group does not do this. Ask a colleague who may.")
        found = self.get_object(request, object_id)
        if found is None:
            raise Http404
        if not act.fits(found):
            state = getattr(found, "get_state_display", lambda: "otherwise now")()
            messages.error(request, f"{act.label} is not possible: {found} is {state.lower()}.")
            return redirect(self._page(object_id))
        if refusal := refusal_for(request.user, found) or act.refusal(found, request.user):
            messages.error(request, refusal)
            return redirect(self._page(object_id))
        form = act.form(request.POST or None)
        if form.is_valid():
            try:
                messages.success(request, act.run(found, form.cleaned_data, request))
            except StaffActionRefused as refusal:
                messages.error(request, str(refusal))
            return redirect(self._page(object_id))
        context = {
            **self.admin_site.each_context(request),
            "title": f"{act.label}: {found}",
            "act": act,
            "form": form,
            "opts": self.opts,
            "object": found,
            "page": self._page(object_id),
        }
        return render(request, "admin/credits/act.html", context)

    def _name(self, act: StaffAction) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{act.slug}"

    def _page(self, object_id: str) -> str:
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
        return reverse(name, args=[object_id])
