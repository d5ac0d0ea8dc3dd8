from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from validation import playground
from validation.code_samples import build_code_samples
from validation.forms import AddressForm

# Sandbox addresses are free.
EXAMPLES = (
    *("deliverable@sandbox.test", "risky@sandbox.test", "undeliverable@sandbox.test"),
    *("unknown@sandbox.test", "disposable@sandbox.test", "jane@gmial.com"),
)


@require_http_methods(["GET", "HEAD", "POST"])
@require_permission(TeamPermission.VALIDATE)
def try_address(request: AccountRequest) -> HttpResponse:
    """Show the playground. A POST renders the response directly, so it is charged once."""
    form = AddressForm(request.POST or None)
    response = None
    if form.is_valid():
        response = playground.send_request(request, form.cleaned_data["email"])
    context = {
        "form": form,
        "response": response,
        "examples": EXAMPLES,
        "samples": build_code_samples(
            settings.BASE_URL, response.email if response else EXAMPLES[0]
        ),
    }
    return render(request, "validation/try_address.html", context)
