from collections.abc import Callable
from functools import wraps
from typing import cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from accounts.request import AccountRequest
from accounts.roles import TeamPermission, who_has

AccountView = Callable[..., HttpResponseBase]


def require_permission(
    permission: TeamPermission, *, takes_post: bool = False, form_page: str = ""
) -> Callable[[AccountView], AccountView]:
    """Allow GET, and POST if the view `takes_post`. With a `form_page`, GET redirects there."""
    methods = ["GET", "HEAD", "POST"] if takes_post else ["GET", "HEAD"]
    limit_methods = redirect_get_to(form_page) if form_page else require_http_methods(methods)

    def decorate(view: AccountView) -> AccountView:
        @limit_methods
        @wraps(view)
        def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            account_request = cast(AccountRequest, request)
            if account_request.membership is None:
                return redirect("accounts:open-account")
            if not account_request.membership.has_permission(permission):
                role = account_request.membership.get_role_display()
                raise PermissionDenied(
                    f"Your role ({role}) doesn't have access to this page. "
                    f"Ask {who_has(permission)}."
                )
            return view(account_request, *args, **kwargs)

        guarded.permission = permission  # type: ignore[attr-defined]
        return guarded

    return decorate


def redirect_get_to(page: str) -> Callable[[AccountView], AccountView]:
    def decorate(view: AccountView) -> AccountView:
        @wraps(view)
        @require_http_methods(["GET", "HEAD", "POST"])
        def handle_post(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            if request.method != "POST":
                return redirect(page)
            return view(request, *args, **kwargs)

        handle_post.form_page = page  # type: ignore[attr-defined]
        return handle_post

    return decorate
