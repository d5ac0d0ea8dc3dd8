from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts.authentication.providers.connections import provider_names, usable_connections
from accounts.authentication.providers.pages import allow_providers
from accounts.authentication.second_factor.factors import has_second_factor
from accounts.presenters.security import second_factor_rows, security_rows
from accounts.request import SignedInRequest
from runtime.http.client_ip import is_address


@require_safe
def show_security(request: SignedInRequest) -> HttpResponse:
    user = request.user
    context = {"has_factor": has_second_factor(user), "rows": security_rows(user)}
    return render(request, "accounts/show_security.html", context)


@require_safe
@allow_providers
def confirm_at_provider(request: SignedInRequest) -> HttpResponse:
    connected = set(usable_connections(request.user).values_list("provider", flat=True))
    names = {provider: name for provider, name in provider_names().items() if provider in connected}
    context = {"providers": names, "next": request.GET.get("next", "")}
    return render(request, "accounts/confirm_at_provider.html", context)


@require_safe
def add_required_factor(request: SignedInRequest) -> HttpResponse:
    """Show the set-up to which RequiredFactorMiddleware leads."""
    if request.membership is None or not request.must_add_factor:
        return redirect("validation:show-overview")
    context = {
        "methods": second_factor_rows(passkeys_work=not is_address(request.get_host())),
        "others": [other for other in request.memberships if other.pk != request.membership.pk],
    }
    return render(request, "accounts/add_required_factor.html", context)


@login_not_required
@require_safe
def show_closed(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/show_closed.html")
