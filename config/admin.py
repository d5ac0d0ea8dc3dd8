"""The admin's door: the same sign-in as everybody's, and in production a second factor."""

from functools import partial
from typing import Any, cast

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts import seams
from accounts.models import User
from accounts.second_factor import has_second_factor
from config.staff_pages import search, show_usage


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

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        panels = seams.call("STAFF_PANELS", user=request.user)
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
            messages.info(request, "Staff need a second factor. Set one up, then open the admin.")
            return redirect("mfa_activate_totp")
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
        user = cast(User, request.user)
        return settings.STAFF_NEED_SECOND_FACTOR and not has_second_factor(user)
