"""GET /v1/lists, and GET and DELETE /v1/lists/{id}."""

from django.db.models import Q, QuerySet

from apikeys.actor import Actor
from apikeys.request import ApiRequest
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import COMMON_ERRORS, describe
from apikeys.rest.view import ApiView
from validation.lists import services
from validation.lists.api.base import LIST_ERRORS, ListView
from validation.lists.api.documents import list_document
from validation.lists.api.examples import COMPLETED_EXAMPLE, RUNNING_EXAMPLE
from validation.lists.api.parameters import invalid_field, read_number, read_text
from validation.lists.api.schema import LIST_ID, LISTS_PARAMETERS, WAIT
from validation.lists.api.serializers import (
    DeletedListSerializer,
    ListPageSerializer,
    ListSerializer,
)
from validation.lists.api.waiting import MAX_SECONDS, wait_for_change
from validation.models import AddressList

DEFAULT_LIMIT, MAX_LIMIT = 20, 100


class ListsView(ApiView):
    query_parameters = ("limit", "starting_after")

    limit: int
    first: AddressList | None = None

    def prepare(self) -> None:
        self.limit = read_number(self.request, "limit", DEFAULT_LIMIT, low=1, high=MAX_LIMIT)
        public_id = read_text(self.request, "starting_after")
        if public_id is not None:
            self.first = self._lists().filter(public_id=public_id.replace("\0", "")).first()
            if self.first is None:
                message = "There is no list with this id in your account. Ids start with lst_."
                raise invalid_field("starting_after", message)

    @describe(
        "show-lists",
        "List your lists",
        "Returns the lists of the account, newest first.",
        ListPageSerializer,
        tag="Lists",
        parameters=LISTS_PARAMETERS,
        examples={"A page": {"data": [COMPLETED_EXAMPLE], "has_more": False}},
        refusals=(*COMMON_ERRORS, "invalid_field"),
    )
    def get(self, request: ApiRequest) -> ApiResponse:
        lists = self._lists().select_related("hold").defer("preview")
        if self.first is not None:
            at = self.first.created_at
            is_older = Q(created_at__lt=at) | Q(created_at=at, pk__lt=self.first.pk)
            lists = lists.filter(is_older)
        found = list(lists[: self.limit + 1])
        data = [list_document(address_list) for address_list in found[: self.limit]]
        return json_response({"data": data, "has_more": len(found) > self.limit})

    def _lists(self) -> QuerySet[AddressList]:
        return AddressList.objects.filter(account=self.request.call.key.account)


class OneListView(ListView):
    seconds: int = 0

    def accepted_parameters(self) -> tuple[str, ...]:
        return () if self.request.method == "DELETE" else ("wait",)

    def prepare(self) -> None:
        if self.request.method != "DELETE":
            self.seconds = read_number(self.request, "wait", 0, low=0, high=MAX_SECONDS)

    @describe(
        "show-list",
        "Get a list",
        "Returns the state, counts, progress and credits of a list. With `wait`, the response is "
        "sent when the state changes, or after that many seconds.",
        ListSerializer,
        tag="Lists",
        parameters=[LIST_ID, WAIT],
        examples={"Running": RUNNING_EXAMPLE, "Completed": COMPLETED_EXAMPLE},
        refusals=(*LIST_ERRORS, "invalid_field"),
    )
    def get(self, request: ApiRequest, list_id: str) -> ApiResponse:
        if self.seconds:
            wait_for_change(self.address_list, self.seconds)
            self.address_list = self.find_list()
        return json_response(list_document(self.address_list))

    @describe(
        "delete-list",
        "Delete a list",
        "Erases the rows and results of a list immediately, in any state. A list in progress is "
        "canceled, and the credits that it still holds return to the balance.",
        DeletedListSerializer,
        tag="Lists",
        parameters=[LIST_ID],
        examples={"Deleted": {"id": COMPLETED_EXAMPLE["id"], "deleted": True}},
        refusals=LIST_ERRORS,
    )
    def delete(self, request: ApiRequest, list_id: str) -> ApiResponse:
        services.delete_list(address_list=self.address_list, actor=Actor.of_call(request.call))
        return json_response({"id": list_id, "deleted": True})
