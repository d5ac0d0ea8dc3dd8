from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render

from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from validation import playground
from validation.batches.forms import BatchForm
from validation.batches.services import MAX_ADDRESSES
from validation.forms import PlaygroundForm
from validation.presenters.batches import CSV_COLUMNS, present_batch
from validation.presenters.code_samples import build_batch_code_samples, build_code_samples
from validation.results.stored_results import stores_results

EXAMPLES = (
    *("deliverable@sandbox.test", "risky@sandbox.test", "undeliverable@sandbox.test"),
    *("unknown@sandbox.test", "disposable@sandbox.test", "jane@gmial.com"),
)
BATCH_EXAMPLE = (
    *("deliverable@sandbox.test", "risky@sandbox.test", "undeliverable@sandbox.test"),
    *("unknown@sandbox.test", "possible_typo@sandbox.test", "deliverable@sandbox.test"),
)


@require_permission(TeamPermission.VALIDATE, takes_post=True)
def try_address(request: AccountRequest) -> HttpResponse:
    """Show the playground. A POST renders the response directly, so it is charged once."""
    form = PlaygroundForm(request.POST or None)
    email, response = EXAMPLES[0], None
    if form.is_valid():
        email = form.cleaned_data["email"]
        is_mailbox = form.cleaned_data.get("mailbox", False)
        response = playground.send_request(request, email, mailbox=is_mailbox)
    context = {
        "form": form,
        "email": email,
        "response": response,
        "examples": EXAMPLES,
        "samples": build_code_samples(settings.BASE_URL, email),
        "takes_feedback": stores_results(request.account),
    }
    return render(request, "validation/try_address.html", context)


@require_permission(TeamPermission.VALIDATE, takes_post=True)
def try_batch(request: AccountRequest) -> HttpResponse:
    form = BatchForm(request.POST or None)
    emails: tuple[str, ...] = BATCH_EXAMPLE
    response, report = None, None
    if form.is_valid():
        lines: dict[int, str] = form.cleaned_data["emails"]
        emails = tuple(lines.values())
        response = playground.send_batch(request, emails)
        if response.result:
            urls = playground.request_urls(request.account, response.document["id"])
            report = present_batch(response.document, list(lines), urls)
    limit = request.account.request_limit
    context = {
        "form": form,
        "response": response,
        "report": report,
        "csv_columns": CSV_COLUMNS,
        "example": "\n".join(BATCH_EXAMPLE),
        "is_limited": limit < MAX_ADDRESSES,
        "max_addresses": min(limit, MAX_ADDRESSES),
        "samples": build_batch_code_samples(settings.BASE_URL, emails),
    }
    return render(request, "validation/try_batch.html", context)
