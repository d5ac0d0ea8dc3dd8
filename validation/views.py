from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import for_account
from accounts.requests import AccountRequest
from accounts.roles import Act
from accounts.second_factor import has_second_factor
from credits.models import Pack, Plan
from validation import playground
from validation.forms import AddressForm
from validation.snippets import snippets

# Of the sandbox: what one sends to find out how it works costs nothing.
SAMPLE_ADDRESS = "deliverable@sandbox.test"


@login_not_required
@require_safe
def show_landing(request: HttpRequest) -> HttpResponse:
    context = {"plans": Plan.objects.offered(), "packs": Pack.objects.offered()}
    return render(request, "validation/show_landing.html", context)


@require_safe
@for_account(Act.LOOK)
def show_overview(request: AccountRequest) -> HttpResponse:
    """What there is to do first: the steps that are done give way to those that are open."""
    context = {
        "has_second_factor": has_second_factor(request.user),
        "members": request.account.memberships.count(),
        "may_invite": request.membership.may(Act.MANAGE_TEAM),
        "may_create_keys": request.membership.may(Act.MANAGE_KEYS),
        "has_key": request.account.api_keys.active().exists(),
    }
    return render(request, "validation/show_overview.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@for_account(Act.VALIDATE)
def try_address(request: AccountRequest) -> HttpResponse:
    """The playground: the answer is in the answer to the form, and is asked and paid for once."""
    form = AddressForm(request.POST or None)
    trial = playground.ask(request, form.cleaned_data["email"]) if form.is_valid() else None
    context = {
        "form": form,
        "trial": trial,
        "sample": SAMPLE_ADDRESS,
        "snippets": snippets(settings.BASE_URL, trial.email if trial else SAMPLE_ADDRESS),
    }
    return render(request, "validation/try_address.html", context)
