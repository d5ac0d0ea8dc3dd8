"""What members do with a list. Each action has its own URL."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET, require_http_methods

from accounts.permissions import redirect_get_to, require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from apikeys.actor import Actor
from apikeys.errors import ApiError
from validation.lists import control, services
from validation.lists.api.rows import MEDIA_TYPES
from validation.lists.forms import ColumnForm, DownloadForm
from validation.lists.recording import record
from validation.lists.results.downloads import (
    DownloadFormat,
    find_delimiter,
    stream_csv,
    stream_json_lines,
)
from validation.lists.results.reading import ResultFilter
from validation.lists.results.sample import take_sample
from validation.models import AddressList
from validation.models.list_states import State
from validation.presenters.list_pages import describe_refusal
from validation.presenters.list_previews import ListPreview
from validation.presenters.lists import deletion_consequences, may_download, name_download
from validation.views.lists import get_list

PAGE = "validation:show-lists"
Action = Callable[[], object]


@redirect_get_to(PAGE)
@require_permission(TeamPermission.VALIDATE)
def choose_column(request: AccountRequest, list_id: str) -> HttpResponse:
    address_list = get_list(request, list_id)
    preview = ListPreview.of(address_list, request.account.wallet)
    form = ColumnForm(preview.stored.columns if preview else [], request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the columns.")
        return _show(address_list)
    column = form.cleaned_data["column"]
    actor = Actor.of_page(request)
    return _perform(
        request,
        address_list,
        lambda: control.choose_column(address_list=address_list, column=column, actor=actor),
    )


@redirect_get_to(PAGE)
@require_permission(TeamPermission.VALIDATE)
def sample_list(request: AccountRequest, list_id: str) -> HttpResponse:
    """Check random addresses for free. Only lists that aren't started are sampled here."""
    address_list = get_list(request, list_id)
    if address_list.state != State.READY:
        return _show(address_list)
    return _perform(request, address_list, lambda: take_sample(address_list))


@redirect_get_to(PAGE)
@require_permission(TeamPermission.VALIDATE)
def start_list(request: AccountRequest, list_id: str) -> HttpResponse:
    address_list, actor = get_list(request, list_id), Actor.of_page(request)
    start = control.Start(confirm="confirm" in request.POST)
    return _perform(
        request,
        address_list,
        lambda: control.start_list(address_list=address_list, start=start, actor=actor),
    )


@redirect_get_to(PAGE)
@require_permission(TeamPermission.VALIDATE)
def pause_list(request: AccountRequest, list_id: str) -> HttpResponse:
    address_list, actor = get_list(request, list_id), Actor.of_page(request)
    return _perform(
        request,
        address_list,
        lambda: control.pause_list(address_list=address_list, actor=actor),
    )


@redirect_get_to(PAGE)
@require_permission(TeamPermission.VALIDATE)
def resume_list(request: AccountRequest, list_id: str) -> HttpResponse:
    address_list, actor = get_list(request, list_id), Actor.of_page(request)
    return _perform(
        request,
        address_list,
        lambda: control.resume_list(address_list=address_list, actor=actor),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@require_permission(TeamPermission.VALIDATE)
def cancel_list(request: AccountRequest, list_id: str) -> HttpResponse:
    """Ask first: results so far stay, but the list can't go on."""
    address_list, actor = get_list(request, list_id), Actor.of_page(request)
    if request.method != "POST":
        return render(request, "validation/cancel_list.html", {"list": address_list})
    return _perform(
        request,
        address_list,
        lambda: control.cancel_list(address_list=address_list, actor=actor),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@require_permission(TeamPermission.VALIDATE)
def delete_list(request: AccountRequest, list_id: str) -> HttpResponse:
    address_list = get_list(request, list_id)
    if request.method != "POST":
        consequences = deletion_consequences(address_list)
        context = {"list": address_list, "consequences": consequences}
        return render(request, "validation/delete_list.html", context)
    services.delete_list(address_list=address_list, actor=Actor.of_page(request))
    messages.success(request, f"Deleted {address_list.name}.")
    return redirect(PAGE)


@require_GET
@require_permission(TeamPermission.VALIDATE)
def download_list(request: AccountRequest, list_id: str) -> HttpResponseBase:
    address_list, form = get_list(request, list_id), DownloadForm(request.GET)
    if not form.is_valid() or not may_download(address_list):
        return _show(address_list)
    record(address_list, Actor.of_page(request), "list.downloaded")
    file_format = DownloadFormat(form.cleaned_data["format"])
    wanted = ResultFilter(form.cleaned_data["filter"])
    is_csv = file_format is DownloadFormat.CSV
    name = name_download(address_list, wanted, file_format)
    if is_csv:
        content = stream_csv(address_list, wanted, delimiter=find_delimiter(address_list))
    else:
        content = stream_json_lines(address_list, wanted)
    response = StreamingHttpResponse(content, content_type=MEDIA_TYPES[file_format])
    response["Content-Disposition"] = content_disposition_header(True, name)
    return response


def _perform(request: AccountRequest, address_list: AddressList, action: Action) -> HttpResponse:
    """Perform the action, or show on the list's page why it was refused."""
    try:
        action()
    except ApiError as error:
        messages.error(request, describe_refusal(error))
    return _show(address_list)


def _show(address_list: AddressList) -> HttpResponse:
    return redirect("validation:show-list", list_id=address_list.public_id)
