"""The door of every signed-in page: which act it is, and whether this role may do it."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from accounts.request import AccountRequest
from accounts.roles import TeamPermission, roles_with

AccountView = Callable[..., HttpResponseBase]


def require_permission(act: TeamPermission) -> Callable[[AccountView], AccountView]:
    """The view gets a request of a member whose role may do this act."""

    def decorate(view: AccountView) -> AccountView:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            account_request = cast(AccountRequest, request)
            if account_request.membership is None:
                return redirect("accounts:open-account")
            if not account_request.membership.may(act):
                raise PermissionDenied(
                    f"Your role here is {account_request.membership.get_role_display()}. "
                    f"This page is for the role {roles_with(act)}: ask one of them."
                )
            return view(account_request, *args, **kwargs)

        guarded.act = act  # type: ignore[attr-defined]
        return guarded

    return decorate


def form_on_page(page: str) -> Callable[[AccountView], AccountView]:
    """The view takes a form that stands on another page: who opens its address is led there."""

    def decorate(view: AccountView) -> AccountView:
        @wraps(view)
        @require_http_methods(["GET", "HEAD", "POST"])
        def takes_the_form(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.method != "POST":
                return redirect(page)
            return view(request, *args, **kwargs)

        takes_the_form.page = page  # type: ignore[attr-defined]
        return takes_the_form

    return decorate
