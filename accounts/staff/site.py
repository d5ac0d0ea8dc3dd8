"""In production, staff need a second factor."""

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
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from accounts.authentication.second_factor.factors import has_second_factor
from accounts.authentication.second_factor.proof import has_used_factor, redirect_to_proof
from accounts.models import User
from accounts.staff import hooks
from accounts.staff.pages import search, show_account

_PRIMARY_KEY = re.compile(r"[0-9]{1,18}")
# Raised for filter values that a column can't have.
INVALID_FILTER_ERRORS = (DataError, FieldDoesNotExist, OverflowError, ValueError)


class StaffSite(admin.AdminSite):
    site_header = f"{settings.PRODUCT_NAME} staff"
    site_title = "Staff"
    index_title = "Staff dashboard"
    enable_nav_sidebar = False
    # Rows of dashes are harder to read.
    empty_value_display = ""

    def get_urls(self) -> list[URLPattern | URLResolver]:
        urls = [
            path("search/", self.admin_view(partial(search, site=self)), name="search"),
            path(
                "customers/<str:public_id>/",
                self.admin_view(partial(show_account, site=self)),
                name="show-account",
            ),
        ]
        return urls + super().get_urls()

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        return super().admin_view(_reject_invalid_input(view), cacheable)

    def index(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> TemplateResponse:
        user = cast(User, request.user)
        panels = [build_panel(user=user) for build_panel in hooks.staff_panels]
        context = {
            "trends": [stat for build in hooks.staff_trends for stat in build(user=user) or ()],
            "panels": [panel for panel in panels if panel is not None],
        }
        return super().index(request, {**context, **(extra_context or {})})

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Group the tables by what staff do with them."""
        apps = super().get_app_list(request, app_label)
        if app_label:
            return apps
        models = {
            f"{app['app_label']}.{model['object_name']}": model
            for app in apps
            for model in app["models"]
        }
        return [
            {"name": name, "app_label": name.lower(), "models": [models[key] for key in visible]}
            for name, keys in settings.STAFF_TABLES.items()
            if (visible := [key for key in keys if key in models])
        ]

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        release = {"version": settings.VERSION, "commit": settings.COMMIT}
        return {**super().each_context(request), **release}

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and not self._needs_second_factor(request)

    @method_decorator([never_cache, login_not_required])
    def login(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(request.GET.get("next", request.get_full_path()))
        if not request.user.is_staff:
            raise PermissionDenied("Only staff can open the admin.")
        if not self._needs_second_factor(request):
            return redirect("admin:index")
        if not has_second_factor(request.user):
            messages.info(request, "Staff need a second factor. Set one up, then open the admin.")
            return redirect("mfa_activate_totp")
        messages.info(request, "Use your second factor to open the admin.")
        return redirect_to_proof(request, request.GET.get("next", reverse("admin:index")))

    def logout(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        return redirect("account_logout")

    def password_change(  # type: ignore[override]
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        return redirect("account_change_password")

    @staticmethod
    def _needs_second_factor(request: HttpRequest) -> bool:
        return settings.STAFF_NEED_SECOND_FACTOR and not has_used_factor(request)


def _reject_invalid_input(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Respond with 400 to input that the database refuses."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        filters = [value for _, values in request.GET.lists() for value in values]
        selected = request.POST.getlist("_selected_action")
        if any("\0" in text for text in (request.path_info, *filters)):
            raise BadRequest("Search terms can't contain NUL characters.")
        if not all(_PRIMARY_KEY.fullmatch(key) for key in selected):
            raise BadRequest(
                "The selection contains an invalid ID. Go back and select the rows again."
            )
        try:
            return view(request, *args, **kwargs)
        except INVALID_FILTER_ERRORS as error:
            if request.method != "GET" or not filters:
                raise
            raise BadRequest(
                "A filter or search term is invalid. Go back and change it."
            ) from error

    return guarded
