from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from apikeys.actor import Actor
from apikeys.errors import ApiError
from validation.feedback.forms import FeedbackForm
from validation.feedback.services import find_reportable_result
from validation.feedback.services import send_feedback as send
from validation.request_log import search


@require_permission(TeamPermission.VALIDATE, takes_post=True)
def send_feedback(request: AccountRequest, result_id: str) -> HttpResponse:
    result = find_reportable_result(request.account, result_id)
    if result is None:
        raise Http404("This result doesn't exist, is no longer stored, or is over 24 hours old.")
    entry = search.find_result(request.account, result_id)
    form = FeedbackForm(request.POST or None)
    if not form.is_valid():
        context = {"form": form, "result": result, "entry": entry}
        return render(request, "validation/send_feedback.html", context)
    try:
        send(sender=Actor.of_page(request), result=result, **form.cleaned_data)
    except ApiError as error:
        messages.error(request, error.message)
    else:
        thanks = "Feedback sent. We'll answer by email and on the request's page."
        if result["sandbox"]:
            thanks = "Results of the sandbox are simulated, so your feedback wasn't stored."
        messages.success(request, thanks)
    return redirect(entry or "validation:show-requests")
