from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from accounts.engine import get_engine


@login_not_required
@require_POST
def suggest_correction(request: HttpRequest) -> HttpResponse:
    """Suggest a correction while the form is being filled in, without the DNS."""
    finding = get_engine().check_offline(request.POST.get("email", ""))
    return render(request, "accounts/fragments/correction.html", {"finding": finding})
