from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from apikeys.actor import Actor
from apikeys.errors import ApiError
from lists import lifecycle
from lists.api.results import MEDIA_TYPES
from lists.forms import ColumnForm, DownloadForm, RenameForm
from lists.models import AddressList
from lists.models.states import ListState
from lists.presenters.sentences import deletion_consequences, describe_refusal, name_download
from lists.results.downloads import find_delimiter, limit_downloads, stream_download
from lists.results.sample import take_sample
from lists.uploads import services
from lists.views.pages import get_list
from runtime.http.streaming import StartedStream
from validation.models import Check

PAGE = "lists:show-lists"


@require_permission(TeamPermission.VALIDATE, form_page=PAGE)
def choose_column(request: AccountRequest, list_id: str) -> HttpResponse:
    form = ColumnForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the columns.")
        return _show(get_list(request, list_id))
    values = {
        "column": form.cleaned_data["column"],
        "extracts_addresses": form.cleaned_data["extract"] or None,
    }
    return _perform(request, list_id, lifecycle.choose_column, **values)


@require_permission(TeamPermission.VALIDATE, form_page=PAGE)
def choose_encoding(request: AccountRequest, list_id: str) -> HttpResponse:
    encoding = request.POST.get("encoding", "")
    return _perform(request, list_id, lifecycle.choose_encoding, encoding=encoding)


@require_permission(TeamPermission.VALIDATE, form_page=PAGE)
def sample_list(request: AccountRequest, list_id: str) -> HttpResponse:
    """Check random addresses for free, unless the list is started."""
    address_list = get_list(request, list_id)
    if address_list.state == ListState.READY:
        try:
            take_sample(address_list)
        except ApiError as error:
            messages.error(request, describe_refusal(error))
    return _show(address_list)


@require_permission(TeamPermission.VALIDATE, form_page=PAGE)
def start_list(request: AccountRequest, list_id: str) -> HttpResponse:
    check = request.POST.get("check")
    start = lifecycle.Start(
        confirm="confirm" in request.POST,
        checks_mailboxes=check == Check.MAILBOX if check else None,
    )
    return _perform(request, list_id, lifecycle.start_list, start=start)


@require_permission(TeamPermission.VALIDATE, form_page=PAGE)
def pause_list(request: AccountRequest, list_id: str) -> HttpResponse:
    return _perform(request, list_id, lifecycle.pause_list)


@require_permission(TeamPermission.VALIDATE, form_page=PAGE)
def resume_list(request: AccountRequest, list_id: str) -> HttpResponse:
    return _perform(request, list_id, lifecycle.resume_list)


@require_permission(TeamPermission.VALIDATE, form_page=PAGE)
def finish_list(request: AccountRequest, list_id: str) -> HttpResponse:
    return _perform(request, list_id, lifecycle.finish_list)


@require_permission(TeamPermission.VALIDATE, takes_post=True)
def cancel_list(request: AccountRequest, list_id: str) -> HttpResponse:
    """A canceled list can't continue, so ask for confirmation."""
    if request.method != "POST":
        context = {"list": get_list(request, list_id)}
        return render(request, "lists/cancel_list.html", context)
    return _perform(request, list_id, lifecycle.cancel_list)


@require_permission(TeamPermission.VALIDATE, form_page=PAGE)
def rerun_list(request: AccountRequest, list_id: str) -> HttpResponse:
    address_list, actor = get_list(request, list_id), Actor.of_page(request)
    try:
        address_list = services.rerun_list(address_list=address_list, actor=actor)
    except ApiError as error:
        messages.error(request, describe_refusal(error))
    return _show(address_list)


@require_permission(TeamPermission.VALIDATE, takes_post=True)
def rename_list(request: AccountRequest, list_id: str) -> HttpResponse:
    address_list = get_list(request, list_id)
    form = RenameForm(request.POST or None, initial={"name": address_list.name})
    if form.is_valid():
        name, actor = form.cleaned_data["name"], Actor.of_page(request)
        lifecycle.rename_list(address_list=address_list, name=name, actor=actor)
        messages.success(request, f"Renamed to {name}.")
        return redirect(PAGE)
    return render(request, "lists/rename_list.html", {"list": address_list, "form": form})


@require_permission(TeamPermission.VALIDATE, takes_post=True)
def delete_lists(request: AccountRequest, list_id: str = "") -> HttpResponse:
    """Delete the list in the path, or those in the query, within the time for one."""
    if list_id:
        lists = [get_list(request, list_id)]
    else:
        ids = [text.replace("\0", "") for text in request.GET.getlist("list")]
        lists = list(request.account.lists.select_related("hold").filter(public_id__in=ids))
    if not lists:
        messages.error(request, "Select the lists that you want to delete.")
        return redirect(PAGE)
    if request.method != "POST":
        context = {"lists": lists, "consequences": deletion_consequences(lists)}
        return render(request, "lists/delete_list.html", context)
    actor, seconds = Actor.of_page(request), lifecycle.ERASURE_SECONDS / len(lists)
    for address_list in lists:
        lifecycle.delete_list(address_list=address_list, actor=actor, seconds=seconds)
    deleted = lists[0].name if len(lists) == 1 else f"{len(lists)} lists"
    messages.success(request, f"Deleted {deleted}.")
    return redirect(PAGE)


@require_GET
@require_permission(TeamPermission.VALIDATE)
def download_list(request: AccountRequest, list_id: str) -> HttpResponseBase:
    address_list, form = get_list(request, list_id), DownloadForm(request.GET)
    if not form.is_valid() or not address_list.can_download:
        return _show(address_list)
    download = form.download(find_delimiter(address_list))
    try:
        pieces = limit_downloads(request.account, stream_download(address_list, download))
        response = StartedStream(pieces, content_type=MEDIA_TYPES[download.format])
    except ApiError as error:
        messages.error(request, describe_refusal(error))
        return _show(address_list)
    address_list.record(Actor.of_page(request), "list.downloaded")
    name = name_download(address_list, download.wanted, download.format)
    response["Content-Disposition"] = content_disposition_header(True, name)
    response["X-List-State"] = address_list.state
    return response


def _perform(
    request: AccountRequest, list_id: str, action: Callable[..., object], **values: object
) -> HttpResponse:
    address_list = get_list(request, list_id)
    try:
        action(address_list=address_list, actor=Actor.of_page(request), **values)
    except ApiError as error:
        messages.error(request, describe_refusal(error))
    return _show(address_list)


def _show(address_list: AddressList) -> HttpResponse:
    return redirect("lists:show-list", list_id=address_list.public_id)
