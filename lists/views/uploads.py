from collections.abc import Callable
from functools import wraps

from django.http import HttpResponse, JsonResponse
from django.urls import reverse

from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from apikeys.actor import Actor
from apikeys.errors import ApiError
from lists.api.uploads.digests import read_sha256
from lists.forms import UploadForm
from lists.lifecycle import delete_list
from lists.models import AddressList
from lists.models.states import ListState
from lists.presenters.sentences import describe_form_error, describe_upload_refusal
from lists.uploads import services
from lists.views.pages import get_list

PAGE = "lists:create-list"
View = Callable[..., HttpResponse]


def _explain_refusals(view: View) -> View:
    @wraps(view)
    def explaining(request: AccountRequest, *args: object, **kwargs: object) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except ApiError as error:
            reason = {"code": error.code, "message": describe_upload_refusal(error)}
            return JsonResponse(reason, status=error.status)

    return explaining


@require_permission(TeamPermission.VALIDATE, form_page=PAGE)
@_explain_refusals
def create_upload(request: AccountRequest) -> HttpResponse:
    form = UploadForm(request.POST)
    if not form.is_valid():
        return JsonResponse({"code": "form", "message": describe_form_error(form)}, status=400)
    address_list = services.create_list(
        actor=Actor.of_page(request),
        options=form.options,
        file_name=form.cleaned_data["file_name"],
        file_size=form.cleaned_data["file_size"],
    )
    return JsonResponse(_describe(address_list))


@require_permission(TeamPermission.VALIDATE)
def show_upload(request: AccountRequest, list_id: str) -> HttpResponse:
    return JsonResponse(_describe(get_list(request, list_id)))


@require_permission(TeamPermission.VALIDATE, form_page=PAGE)
@_explain_refusals
def store_part(request: AccountRequest, list_id: str, number: int) -> HttpResponse:
    part = services.store_part(
        address_list=get_list(request, list_id),
        number=number,
        content=request.read(services.MAX_PART_BYTES + 1),
        sha256=read_sha256(request.META),
    )
    return JsonResponse({"number": part.number, "sha256": part.sha256})


@require_permission(TeamPermission.VALIDATE, form_page=PAGE)
@_explain_refusals
def finish_upload(request: AccountRequest, list_id: str) -> HttpResponse:
    """Begin parsing, once: a response may be lost and the call repeated."""
    address_list = get_list(request, list_id)
    if address_list.state == ListState.UPLOADING:
        services.begin_parsing(address_list=address_list)
    return JsonResponse({"page": _url("show-list", address_list)})


@require_permission(TeamPermission.VALIDATE, form_page=PAGE)
def cancel_upload(request: AccountRequest, list_id: str) -> HttpResponse:
    """Delete an unfinished list, or return a complete one's page."""
    address_list = get_list(request, list_id)
    if delete_list(address_list=address_list, actor=Actor.of_page(request), only_uploading=True):
        return JsonResponse({})
    return JsonResponse({"page": _url("show-list", address_list)})


def _describe(address_list: AddressList) -> dict[str, object]:
    parts = address_list.parts.values_list("number", "sha256")
    return {
        "is_open": address_list.state == ListState.UPLOADING,
        "parts": {str(number): sha256 for number, sha256 in parts},
        "upload": _url("show-upload", address_list),
        "part": _url("store-part", address_list, number=0),
        "finish": _url("finish-upload", address_list),
        "cancel": _url("cancel-upload", address_list),
    }


def _url(name: str, address_list: AddressList, **ids: int) -> str:
    return reverse(f"lists:{name}", kwargs={"list_id": address_list.public_id, **ids})
