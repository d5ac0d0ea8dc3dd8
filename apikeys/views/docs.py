"""The docs this floor can tell: the operations, the errors, and the description for machines."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apikeys import reference
from apikeys.errors import REFUSALS, SAMPLE_DETAILS


@login_not_required
@require_safe
def show_description(request: HttpRequest) -> HttpResponse:
    return HttpResponse(reference.description(), content_type="application/json")


@login_not_required
@require_safe
def show_reference(request: HttpRequest) -> HttpResponse:
    context = {
        "operations": reference.operations(),
        "answer_headers": reference.answer_headers(),
    }
    return render(request, "docs/show_reference.html", context)


@login_not_required
@require_safe
def show_errors(request: HttpRequest) -> HttpResponse:
    entries = [
        (code, refusal, SAMPLE_DETAILS.get(code, {}).items()) for code, refusal in REFUSALS.items()
    ]
    return render(request, "docs/show_errors.html", {"entries": entries})
