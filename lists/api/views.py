from typing import Any

from django.db.models import Q, QuerySet

from apikeys.request import ApiRequest
from apikeys.rest.request_body import invalid_field
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.view import ApiView
from lists.api.base import LIST_ID, ListView, describe_change, describe_list, read_optional_object
from lists.api.documents import list_document
from lists.api.examples import COMPLETED_EXAMPLE, RUNNING_EXAMPLE
from lists.api.serializers import (
    AddressListPageSerializer,
    AddressListSerializer,
    DeletedAddressListSerializer,
    ListChangesSerializer,
    ListsQuery,
    WaitQuery,
)
from lists.api.waiting import wait_for_change
from lists.lifecycle import delete_list, rename_list
from lists.models import AddressList, with_progress
from lists.models.states import ListState


class ListsView(ApiView):
    limit: int
    lists: QuerySet[AddressList]

    def prepare(self) -> None:
        chosen = ListsQuery.parse_query(self.request)
        self.limit = chosen.get("limit", 20)
        self.lists = AddressList.objects.filter(account=self.request.call.key.account)
        if "starting_after" in chosen:
            public_id = chosen["starting_after"].replace("\0", "")
            first = self.lists.filter(public_id=public_id).first()
            if first is None:
                message = "There is no list with this id in your account. Ids start with lst_."
                raise invalid_field("starting_after", message)
            at = first.created_at
            self.lists = self.lists.filter(Q(created_at__lt=at) | Q(created_at=at, pk__lt=first.pk))
        if "state" in chosen:
            states = chosen["state"].split(",")
            if not set(states) <= set(ListState):
                known = ", ".join(ListState)
                raise invalid_field("state", f"state must be one or more of {known}, with commas.")
            self.lists = self.lists.filter(state__in=states)

    @describe_list(
        "show-lists",
        "List your lists",
        "Returns the lists of the account, newest first: all, or those in certain states.",
        AddressListPageSerializer,
        parameters=[ListsQuery],
    )
    def get(self, request: ApiRequest) -> ApiResponse:
        lists = with_progress(self.lists.select_related("hold"))
        found = list(lists[: self.limit + 1])
        data = [list_document(address_list) for address_list in found[: self.limit]]
        after = data[-1]["id"] if len(found) > self.limit else None
        return json_response({"data": data, "has_more": after is not None, "next": after})


class OneListView(ListView):
    seconds: int = 0

    changes: dict[str, Any]

    def prepare(self) -> None:
        if self.request.method == "PATCH":
            self.changes = ListChangesSerializer.parse(read_optional_object(self.request))
        elif self.request.method != "DELETE":
            self.seconds = WaitQuery.parse_query(self.request).get("wait", 0)

    @describe_list(
        "show-list",
        "Get a list",
        "Returns the state, counts, progress and credits of a list. With `wait`, the response is "
        "sent when the state changes, or after that many seconds.",
        AddressListSerializer,
        parameters=[LIST_ID, WaitQuery],
        examples={"Running": RUNNING_EXAMPLE, "Completed": COMPLETED_EXAMPLE},
    )
    def get(self, request: ApiRequest, list_id: str) -> ApiResponse:
        if self.seconds:
            wait_for_change(self.address_list, self.seconds)
            self.address_list = self.find_list()
        return json_response(list_document(self.address_list))

    @describe_change(
        "change-list",
        "Rename a list",
        "Changes the name or the metadata of a list, in any state. New metadata replaces all that "
        "the list had.",
        AddressListSerializer,
        request=ListChangesSerializer,
        examples={"Completed": COMPLETED_EXAMPLE},
    )
    def patch(self, request: ApiRequest, list_id: str) -> ApiResponse:
        renamed = rename_list(address_list=self.address_list, actor=self.actor, **self.changes)
        return json_response(list_document(renamed))

    @describe_change(
        "delete-list",
        "Delete a list",
        "Erases the rows and results of a list immediately, in any state. A list in progress is "
        "canceled, and the credits that it still holds return to the balance.",
        DeletedAddressListSerializer,
    )
    def delete(self, request: ApiRequest, list_id: str) -> ApiResponse:
        delete_list(address_list=self.address_list, actor=self.actor)
        return json_response({"id": list_id, "deleted": True})
