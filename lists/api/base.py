import re
from functools import partial
from typing import Any

from django.conf import settings
from django.http import Http404
from rest_framework.response import Response

from apikeys.actor import Actor
from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from apikeys.rest.request_body import invalid_field, read_object
from apikeys.rest.schema import describe, id_parameter
from apikeys.rest.view import ApiView
from lists.api.examples import LIST_ID_EXAMPLE
from lists.models import AddressList, ListChunk, ParsedList
from lists.models.states import UNREAD, ListState
from runtime.http.url_converters import PublicId
from runtime.json_text import render_json
from validation.api import refuse_unavailable
from validation.models import Check

LIST_ID = id_parameter("list", LIST_ID_EXAMPLE)
describe_list = partial(describe, tag="Lists", scope="lists:read", parameters=[LIST_ID])
describe_change = partial(describe_list, scope="lists:write")

MAILBOX_ERRORS = ("plan_limit_reached",) if settings.PROBE_MAILBOX_CHECKS else ()


class ListView(ApiView):
    address_list: AddressList

    @property
    def actor(self) -> Actor:
        return Actor.of_call(self.request.call)

    def find_object(self) -> None:
        self.address_list = self.find_list()

    def handle_exception(self, exc: Exception) -> Response:
        """Respond with 404 if the list was deleted after it was found."""
        if isinstance(
            exc, (AddressList.DoesNotExist, ListChunk.DoesNotExist, ParsedList.DoesNotExist)
        ):
            exc = Http404()
        return super().handle_exception(exc)

    def find_list(self) -> AddressList:
        public_id = self.kwargs["list_id"]
        if not re.fullmatch(PublicId.regex, public_id):
            raise Http404
        lists = AddressList.objects.filter(account=self.request.call.key.account)
        found = lists.select_related("hold").filter(public_id=public_id).first()
        if found is None:
            raise Http404
        return found


def read_optional_object(request: ApiRequest) -> dict[str, object]:
    return read_object(request) if int(request.META.get("CONTENT_LENGTH") or 0) else {}


def take_check(values: dict[str, Any]) -> dict[str, Any]:
    """Remove `check` from what was sent, and return what it stands for."""
    if "check" not in values:
        return {}
    check = values.pop("check")
    if not isinstance(check, str) or check not in list(Check):
        raise invalid_field("check", f"check must be one of {', '.join(Check)}.")
    refuse_unavailable(check)
    return {"checks_mailboxes": check == Check.MAILBOX}


def refuse_unread(address_list: AddressList) -> None:
    """Raise unless the rows of the list can be read."""
    if address_list.state == ListState.EXPIRED:
        details = {"expired_at": render_json(address_list.expires_at).decode().strip('"')}
        raise ApiError("list_expired", details=details)
    # After its start, a failed list has results that were paid for.
    is_unreadable = address_list.state == ListState.FAILED and address_list.started_at is None
    if address_list.state in UNREAD or is_unreadable:
        raise address_list.invalid_state(f"The list is {address_list.state}.")


def refuse_unchecked(address_list: AddressList) -> None:
    """Raise unless the list has been started and may have results."""
    refuse_unread(address_list)
    if address_list.started_at is None:
        raise address_list.invalid_state("The list was never started, so it has no results.")
