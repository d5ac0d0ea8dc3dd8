from typing import Any

import orjson
from django.db.models import F

from apikeys.actor import Actor
from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from apikeys.rest.negotiation import read_media_type
from apikeys.rest.request_body import (
    missing_field,
    read_bytes,
    read_object,
    refuse_unknown_parameters,
)
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import BODY_ERRORS
from lists.api.actions import ActionView, describe_action
from lists.api.base import (
    LIST_ID,
    MAILBOX_ERRORS,
    ListView,
    describe_change,
    describe_list,
    read_optional_object,
    refuse_unread,
    take_check,
)
from lists.api.documents import list_document
from lists.api.examples import PARSING_EXAMPLE, UPLOADING_EXAMPLE
from lists.api.idempotency import IdempotentView
from lists.api.serializers import AddressListSerializer, ListChangesSerializer
from lists.api.uploads.digests import read_sha256
from lists.api.uploads.schema import (
    CONTENT_DIGEST,
    CREATE_HEADERS,
    CREATE_REQUEST,
    PART_NUMBER,
    PART_REQUEST,
)
from lists.api.uploads.serializers import (
    AddressesRequest,
    FileQuery,
    ListPartPageSerializer,
    ListPartSerializer,
    ListPartsQuery,
    PartsRequest,
)
from lists.api.views import ListsView
from lists.models import AddressList
from lists.uploads import services
from lists.uploads.limits import count_addresses
from lists.uploads.options import DEFAULT_OPTIONS, ListOptions
from lists.uploads.sources import JSON_TYPE
from validation.api import refuse_unavailable

_UNSUPPORTED = f"Send the list as one of {', '.join(CREATE_REQUEST)}."


class UploadView(IdempotentView, ListsView):
    """All operations on /v1/lists: those of ListsView, and creating a list."""

    chosen: ListOptions = DEFAULT_OPTIONS
    # None for a list whose parts follow.
    content: bytes | None = None
    # 0 for a file, whose addresses are counted when it is parsed.
    addresses: int = 0

    def prepare(self) -> None:
        if self.request.method != "POST":
            super().prepare()
            return
        media_type = read_media_type(self.request.META)
        if media_type == JSON_TYPE:
            self._read_json()
        elif media_type in CREATE_REQUEST:
            self._read_file()
        else:
            raise ApiError("unsupported_media_type", _UNSUPPORTED)

    @describe_change(
        "create-list",
        "Create a list",
        "Creates a list from up to 10,000 addresses as JSON, or from a file of up to 8 MB: CSV, "
        "tab-separated values, one address per line, or XLSX. For a file, send the options as "
        "query parameters. For a larger one, send `parts: true`, upload it in parts, and then ask "
        "to parse it. Creating a list is free.",
        AddressListSerializer,
        request=CREATE_REQUEST,
        parameters=[FileQuery, *CREATE_HEADERS],
        examples={"Parsing": PARSING_EXAMPLE, "Waiting for its parts": UPLOADING_EXAMPLE},
        refusals=(
            *(*BODY_ERRORS, "missing_field", "list_too_large", "too_many_lists"),
            *("idempotency_key_reused", *MAILBOX_ERRORS),
        ),
        status=201,
    )
    def post(self, request: ApiRequest) -> ApiResponse:
        return self.respond_once(self._create, status=201)

    def _read_json(self) -> None:
        document = read_object(self.request)
        parts = document.get("parts", False)
        if parts is False and "emails" not in document:
            raise missing_field("emails")
        self.identify_request(orjson.dumps(document))
        check = take_check(document)
        shape = PartsRequest if parts is True else AddressesRequest
        chosen = shape.parse(document)
        chosen.pop("parts", None)
        if parts is not True:
            emails = chosen.pop("emails")
            self.addresses = count_addresses(emails, chosen.get("dedupe", ""))
            self.content = orjson.dumps(emails)
            chosen["content_type"] = JSON_TYPE
        self.chosen = ListOptions(**chosen, **check)
        self.chosen.check()
        message = "Query parameters are for files. Put the options into the JSON body."
        refuse_unknown_parameters(self.request, (), message)

    def _read_file(self) -> None:
        self.content = read_bytes(self.request)
        if not self.content:
            raise ApiError("invalid_field", "The body is empty. Send the bytes of the file.")
        content_type = self.request.META.get("CONTENT_TYPE", "")
        refuse_unavailable(self.request.query_params.get("check"))
        chosen = FileQuery.parse_query(self.request)
        chosen |= take_check(chosen)
        self.chosen = ListOptions(content_type=content_type, **chosen)
        self.chosen.check()
        self.identify_request(self.content)

    def _create(self) -> AddressList:
        actor = Actor.of_call(self.request.call)
        if self.content is None:
            return services.create_list(actor=actor, options=self.chosen)
        return services.upload_list(
            actor=actor, content=self.content, options=self.chosen, addresses=self.addresses
        )


class RerunView(IdempotentView, ListView):
    changes: dict[str, Any]

    def prepare(self) -> None:
        document = read_optional_object(self.request)
        self.identify_request(orjson.dumps(document))
        self.changes = ListChangesSerializer.parse(document)

    @describe_change(
        "rerun-list",
        "Run a list again",
        "Creates a list with the rows and options of this one, and parses it, so that you can "
        "start it. Name and metadata are those of this list, unless you send others. The limits "
        "are those of an upload. If this list is deleted before its rows are read, the new one is "
        "`failed`.",
        AddressListSerializer,
        parameters=[LIST_ID, *CREATE_HEADERS],
        request=ListChangesSerializer,
        examples={"Parsing": PARSING_EXAMPLE},
        refusals=(
            *("invalid_state", "list_expired", "list_too_large", "too_many_lists"),
            "idempotency_key_reused",
        ),
        status=201,
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        return self.respond_once(self._rerun, status=201)

    def _rerun(self) -> AddressList:
        refuse_unread(self.address_list)
        changes, actor = self.changes, self.actor
        return services.rerun_list(address_list=self.address_list, actor=actor, **changes)


class PartView(ListView):
    sha256: str
    content: bytes

    def prepare(self) -> None:
        # Any media type: a part alone has none.
        read_media_type(self.request.META)
        self.sha256 = read_sha256(self.request.META)
        self.content = read_bytes(self.request)

    @describe_change(
        "upload-list-part",
        "Upload a part of a list",
        "Stores up to 8 MB of a file. Parts are numbered from 1, and may arrive in any order and "
        "at the same time. To resume an upload, send the parts that are missing. The same bytes "
        "twice are fine.",
        ListPartSerializer,
        request=PART_REQUEST,
        parameters=[LIST_ID, PART_NUMBER, CONTENT_DIGEST],
        refusals=(
            *("invalid_field", "missing_field", "unsupported_media_type"),
            *("invalid_state", "part_conflict", "list_too_large"),
        ),
    )
    def put(self, request: ApiRequest, list_id: str, number: int) -> ApiResponse:
        part = services.store_part(
            address_list=self.address_list, number=number, content=self.content, sha256=self.sha256
        )
        return json_response({"number": part.number, "bytes": part.size, "sha256": part.sha256})


class PartsView(ListView):
    limit: int
    after: int

    def prepare(self) -> None:
        chosen = ListPartsQuery.parse_query(self.request)
        self.limit, self.after = chosen.get("limit", 1000), chosen.get("starting_after", 0)

    @describe_list(
        "show-list-parts",
        "Get the parts of a list",
        "Returns the parts that are stored, by number, so that you can resume an upload: compare "
        "their digests with those of your file, and send the rest. Parts are deleted once the file "
        "is parsed.",
        ListPartPageSerializer,
        parameters=[LIST_ID, ListPartsQuery],
    )
    def get(self, request: ApiRequest, list_id: str) -> ApiResponse:
        parts = self.address_list.parts.filter(number__gt=self.after)
        found = list(parts.values("number", "sha256", bytes=F("size"))[: self.limit + 1])
        return json_response({"data": found[: self.limit], "has_more": len(found) > self.limit})


class ParseView(ActionView):
    @describe_action(
        "parse-list",
        "Parse a list",
        "Ends the upload and reads the file. Its parts must be numbered from 1 without gaps. The "
        "list is `parsing`, and then `ready` or `failed`.",
        examples={"Parsing": PARSING_EXAMPLE},
    )
    def post(self, request: ApiRequest, list_id: str) -> ApiResponse:
        services.begin_parsing(address_list=self.address_list)
        current = AddressList.objects.select_related("hold").get(pk=self.address_list.pk)
        return json_response(list_document(current))
