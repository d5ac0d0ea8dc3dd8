"""The base class of the views for one list."""

import re

from django.http import Http404
from rest_framework.response import Response

from apikeys.errors import ApiError
from apikeys.rest.responses import render
from apikeys.rest.schema import COMMON_ERRORS
from apikeys.rest.view import ApiView
from runtime.http.url_converters import PublicId
from validation.models import AddressList, ListChunk
from validation.models.list_states import State

LIST_ERRORS = (*COMMON_ERRORS, "not_found")
# Their rows and results can't be read yet.
_UNREAD = frozenset({State.UPLOADING, State.PARSING})


class ListView(ApiView):
    address_list: AddressList

    def check_method(self) -> None:
        """Find the list first: a 404 precedes a 405."""
        self.address_list = self.find_list()
        super().check_method()

    def handle_exception(self, exc: Exception) -> Response:
        """Respond with 404 if the list was deleted after it was found."""
        is_deleted = isinstance(exc, AddressList.DoesNotExist | ListChunk.DoesNotExist)
        return super().handle_exception(Http404() if is_deleted else exc)

    def find_list(self) -> AddressList:
        public_id = self.kwargs["list_id"]
        if not re.fullmatch(PublicId.regex, public_id):
            raise Http404
        lists = AddressList.objects.filter(account=self.request.call.key.account)
        found = lists.select_related("hold").defer("preview").filter(public_id=public_id).first()
        if found is None:
            raise Http404
        return found


def refuse_expired(address_list: AddressList) -> None:
    if address_list.state == State.EXPIRED:
        details = {"expired_at": render(address_list.expires_at).decode().strip('"')}
        raise ApiError("list_expired", details=details)


def refuse_unread(address_list: AddressList) -> None:
    """Raise unless the rows of the list can be read."""
    refuse_expired(address_list)
    # A list that failed after its start has the results that were paid for.
    is_unreadable = address_list.state == State.FAILED and address_list.started_at is None
    if address_list.state in _UNREAD or is_unreadable:
        raise invalid_state(address_list, f"The list is {address_list.state}.")


def refuse_without_preview(address_list: AddressList) -> None:
    refuse_unread(address_list)
    if not address_list.preview:
        raise invalid_state(address_list, "The list ended before its rows were counted.")


def refuse_unchecked(address_list: AddressList) -> None:
    """Raise unless the list has been started and may have results."""
    refuse_unread(address_list)
    if address_list.started_at is None:
        raise invalid_state(address_list, "The list was never started, so it has no results.")


def invalid_state(address_list: AddressList, message: str = "") -> ApiError:
    return ApiError("invalid_state", message, details={"state": address_list.state})
