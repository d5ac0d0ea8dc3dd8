"""GET and PUT /v1/domains: the views, and how the API reference describes them."""

from collections.abc import Collection

from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter, OpenApiRequest

from apikeys.actor import Actor
from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from apikeys.rest.request_body import read_object, refuse_unknown_fields
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import COMMON_ERRORS, describe, named_example
from apikeys.rest.view import ApiView
from validation.domains.entries import Problem, parse_entries
from validation.domains.serializers import DomainsRequestSerializer, DomainsSerializer
from validation.domains.services import (
    MAX_ENTRIES,
    DomainLists,
    DomainsChanged,
    read_domains,
    replace_domains,
)

_LISTS = ("allowed", "denied")
EXAMPLE = {"allowed": ["partner.example"], "denied": ["spam.example", "xn--bcher-kva.example"]}
_REQUEST_EXAMPLE = {"allowed": ["partner.example"], "denied": ["Spam.example", "bücher.example"]}
_ETAG_EXAMPLE = named_example("An ETag", '"2f1c6a09b3d4e857"')
ETAG = OpenApiParameter(
    "ETag",
    {"type": "string"},
    OpenApiParameter.HEADER,
    response=[200],
    description="Identifies the content of both lists. Send it as If-Match.",
    examples=[_ETAG_EXAMPLE],
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    {"type": "string"},
    OpenApiParameter.HEADER,
    description="Replace the lists only if this is still their ETag. Otherwise, the response is "
    "412. Without it, any content is replaced.",
    examples=[_ETAG_EXAMPLE],
)


class DomainsView(ApiView):
    new: DomainLists

    def prepare(self) -> None:
        if self.request.method == "PUT":
            self.new = _read_lists(read_object(self.request))

    @describe(
        "show-domains",
        "Get your domains",
        "Returns the domains that your account allows or denies: addresses of allowed domains are "
        "accepted unless they are undeliverable, and those of denied domains are always rejected. "
        "Both lists are empty until you set them.",
        DomainsSerializer,
        tag="Domains",
        parameters=[ETAG],
        examples={"Two lists": EXAMPLE},
    )
    def get(self, request: ApiRequest) -> ApiResponse:
        return _respond(read_domains(request.call.key.account))

    @describe(
        "replace-domains",
        "Replace your domains",
        f"Replaces both lists, and returns them as they are stored. Together they have up to "
        f"{MAX_ENTRIES:,} domains. Each one also covers its subdomains. The next validation of "
        "your account uses them. Your audit log records the change.",
        DomainsSerializer,
        tag="Domains",
        request=OpenApiRequest(
            DomainsRequestSerializer, examples=[named_example("Two lists", _REQUEST_EXAMPLE)]
        ),
        parameters=[IF_MATCH, ETAG],
        examples={"Two lists": EXAMPLE},
        refusals=(
            *COMMON_ERRORS,
            *("invalid_json", "missing_field", "invalid_field", "unsupported_media_type"),
            "precondition_failed",
        ),
    )
    def put(self, request: ApiRequest) -> ApiResponse:
        etags = _read_if_match(request)
        try:
            stored = replace_domains(actor=Actor.of_call(request.call), new=self.new, etags=etags)
        except DomainsChanged:
            raise ApiError("precondition_failed", param="If-Match") from None
        return _respond(stored)


def _respond(lists: DomainLists) -> ApiResponse:
    return json_response(lists.document(), headers={"ETag": lists.etag})


def _read_if_match(request: ApiRequest) -> Collection[str] | None:
    """Return the ETags of which one must be the present one. None: any content is replaced.

    Text that isn't an ETag matches nothing.
    """
    header = request.META.get("HTTP_IF_MATCH")
    etags = parse_etags(header) if header is not None else ["*"]
    return None if etags == ["*"] else etags


def _read_lists(document: dict[str, object]) -> DomainLists:
    for name in _LISTS:
        if name not in document:
            raise ApiError("missing_field", f"The field {name} is required.", param=name)
    texts = {name: _read_texts(document[name], name) for name in _LISTS}
    count = sum(map(len, texts.values()))
    if count > MAX_ENTRIES:
        message = f"There are {count:,} entries. Both lists together can have {MAX_ENTRIES:,}."
        raise ApiError("invalid_field", message, details={"max": MAX_ENTRIES})
    allowed, denied = (_parse(texts[name], name) for name in _LISTS)
    refuse_unknown_fields(document, *_LISTS)
    return DomainLists(allowed, denied)


def _read_texts(value: object, name: str) -> list[str]:
    if not isinstance(value, list):
        raise ApiError("invalid_field", f"{name} must be an array of strings.", param=name)
    for index, entry in enumerate(value):
        if not isinstance(entry, str):
            param = f"{name}[{index}]"
            raise ApiError("invalid_field", f"{param} must be a string.", param=param)
    return value


def _parse(texts: list[str], name: str) -> list[str]:
    domains, problems = parse_entries(texts)
    if problems:
        errors = [_describe_problem(problem, name) for problem in problems]
        first = errors[0]
        raise ApiError("invalid_field", first["message"], first["param"], {"errors": errors})
    return domains


def _describe_problem(problem: Problem, name: str) -> dict[str, str]:
    param = f"{name}[{problem.index}]"
    return {"param": param, "message": f"{param}: {problem}"}
