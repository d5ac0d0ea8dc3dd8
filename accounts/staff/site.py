"""The admin's door: the same sign-in as everybody's, and in production a second factor."""

import re
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, cast

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, FieldDoesNotExist, PermissionDenied
from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.authentication.second_factor.factors import has_second_factor
from accounts.authentication.second_factor.proof import is_verified, redirect_to_proof
from accounts.models import User
from accounts.staff.pages import search, show_usage
from runtime import hooks

_ROW = re.compile(r"[0-9]{1,18}")
# What Django and the database say to a filter that makes no sense to them.
NO_QUESTION = (DataError, FieldDoesNotExist, OverflowError, ValueError)


class StaffSite(admin.AdminSite):
    site_header = "Email Validation staff"
    site_title = "Staff"
    index_title = "Customers and what is theirs"
    enable_nav_sidebar = True

    def get_urls(self) -> list[Any]:
        own = [
            path("search/", self.admin_view(partial(search, site=self)), name="search"),
            path(
                "usage/<str:public_id>/",
                self.admin_view(partial(show_usage, site=self)),
                name="show-usage",
            ),
        ]
        return own + super().get_urls()

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        return super().admin_view(_asked_for_what_can_be(view), cacheable)

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        panels = hooks.call("STAFF_PANELS", user=request.user)
        told = [panel for panel in panels if panel is not None]
        return super().index(request, {"panels": told, **(extra_context or {})})

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and not self._lacks_second_factor(request)

    @method_decorator([never_cache, login_not_required])
    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Where the admin sends who may not enter: to what they lack."""
        if not request.user.is_authenticated:
            return redirect_to_login(request.GET.get("next", request.get_full_path()))
        if not request.user.is_staff:
            raise PermissionDenied("The admin is for staff.")
        if self._lacks_second_factor(request):
            return _ask_for_factor(request)
        return redirect("admin:index")

    def logout(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return redirect("account_logout")

    def password_change(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return redirect("account_change_password")

    @staticmethod
    def _lacks_second_factor(request: HttpRequest) -> bool:
        return settings.STAFF_NEED_SECOND_FACTOR and not is_verified(request)


def _ask_for_factor(request: HttpRequest) -> HttpResponse:
    """The session may be older than the factor: it counts once this session has used it."""
    if not has_second_factor(cast(User, request.user)):
        messages.info(request, "Staff need a second factor. Set one up, then open the admin.")
        return redirect("mfa_activate_totp")
    messages.info(request, "Use your second factor to open the admin.")
    return redirect_to_proof(request, request.GET.get("next", reverse("admin:index")))


def _asked_for_what_can_be(view: Callable[..., Any]) -> Callable[..., Any]:
    """Django's admin hands the database whatever it is asked for. PostgreSQL keeps no NUL, a row's
    number is one, and not every text is a pattern: the error would be a crash."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        asked = [text for _, texts in request.GET.lists() for text in texts]
        rows = request.POST.getlist("_selected_action")
        if any("\0" in text for text in (request.path_info, *asked)):
            raise BadRequest("A NUL is in no row.")
        if not all(_ROW.fullmatch(row) for row in rows):
            raise BadRequest("A row that is acted on has a number.")
        try:
            return view(request, *args, **kwargs)
        except NO_QUESTION as error:
            if request.method != "GET" or not asked:
                raise
            raise BadRequest("No row can be compared with that.") from error

    return guarded
