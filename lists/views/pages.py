from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from apikeys.actor import Actor
from apikeys.errors import ApiError
from credits.plans.list_limits import list_limits
from lists.forms import MAX_PASTED_LINES, DownloadForm, ListFilter, NewListForm
from lists.models import AddressList, ListSample, with_progress
from lists.presenters import sentences
from lists.presenters.list_page import ListPage, ListRow
from lists.uploads.limits import format_bytes
from lists.uploads.services import MAX_PART_BYTES, upload_list

LISTS_PER_PAGE = 25


@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_lists(request: AccountRequest) -> HttpResponse:
    form = ListFilter(request.GET)
    lists = form.select(with_progress(request.account.lists.select_related("hold")))
    page = Paginator(lists, LISTS_PER_PAGE).get_page(request.GET.get("page"))
    may_create = request.membership.has_permission(TeamPermission.VALIDATE)
    empty = sentences.NO_LISTS if may_create else sentences.NO_LISTS_FOR_READERS
    context = {
        "page": page,
        "filter": form,
        "rows": [ListRow(address_list) for address_list in page],
        "empty": sentences.NO_MATCHING_LISTS if form.query else empty,
        "may_create": may_create,
        "retention_days": settings.LIST_RETENTION_DAYS,
    }
    if may_create and not page and not form.query:
        context |= _form_context(request, NewListForm())
    return render(request, "lists/show_lists.html", context)


@require_permission(TeamPermission.VALIDATE, takes_post=True)
def create_list(request: AccountRequest) -> HttpResponse:
    form = NewListForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        try:
            address_list = upload_list(
                actor=Actor.of_page(request),
                content=form.read_content(),
                options=form.options,
                file_name=form.file_name,
            )
            return redirect("lists:show-list", list_id=address_list.public_id)
        except ApiError as error:
            form.add_error(None, sentences.describe_refusal(error))
    return render(request, "lists/create_list.html", _form_context(request, form))


@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_list(request: AccountRequest, list_id: str) -> HttpResponse:
    context = {"page": _list_page(request, list_id), "download_form": DownloadForm()}
    return render(request, "lists/show_list.html", context)


@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_progress(request: AccountRequest, list_id: str) -> HttpResponse:
    """Return the HTML fragment that the page polls."""
    page = _list_page(request, list_id)
    context = {"page": page, "has_changed": page.address_list.phase != request.GET.get("phase")}
    return render(request, "lists/fragments/progress.html", context)


def get_list(request: AccountRequest, list_id: str) -> AddressList:
    lists = request.account.lists.select_related("hold")
    return get_object_or_404(lists, public_id=list_id)


def _form_context(request: AccountRequest, form: NewListForm) -> dict[str, object]:
    limits = list_limits(request.account)
    return {
        "form": form,
        "limits": limits,
        "limit_size": format_bytes(limits.bytes),
        "part_bytes": MAX_PART_BYTES,
        "part_size": format_bytes(MAX_PART_BYTES),
        "max_lines": MAX_PASTED_LINES,
    }


def _list_page(request: AccountRequest, list_id: str) -> ListPage:
    may_act = request.membership.has_permission(TeamPermission.VALIDATE)
    address_list = get_list(request, list_id)
    sample = ListSample.objects.filter(list=address_list).first()
    return ListPage(address_list, request.account.wallet, may_act, sample)
