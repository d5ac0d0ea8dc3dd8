from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter

from apikeys.actor import Actor
from apikeys.errors import ApiError
from apikeys.request import ApiRequest
from apikeys.rest.request_body import read_object
from apikeys.rest.responses import ApiResponse, json_response
from apikeys.rest.schema import describe, named_example
from apikeys.rest.view import ApiView
from validation.account_domains.serializers import DomainsRequestSerializer, DomainsSerializer
from validation.account_domains.services import (
    MAX_ENTRIES,
    DomainsChanged,
    read_domains,
    replace_domains,
)
from validation.models import AccountDomains

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
    chosen: dict[str, list[str]]

    def prepare(self) -> None:
        if self.request.method == "PUT":
            self.chosen = DomainsRequestSerializer.parse(read_object(self.request))

    @describe(
        "show-domains",
        "Get your domains",
        "Returns the domains that your account allows or denies: addresses of allowed domains are "
        "accepted unless they are undeliverable, and those of denied domains are always rejected. "
        "Both lists are empty until you set them.",
        DomainsSerializer,
        tag="Domains",
        parameters=[ETAG],
        scope="domains:read",
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
        request=DomainsRequestSerializer,
        parameters=[IF_MATCH, ETAG],
        refusals=["precondition_failed"],
        scope="domains:write",
    )
    def put(self, request: ApiRequest) -> ApiResponse:
        header = request.META.get("HTTP_IF_MATCH")
        # Text that isn't an ETag matches nothing.
        etags = parse_etags(header) if header is not None else ["*"]
        try:
            stored = replace_domains(
                actor=Actor.of_call(request.call),
                etags=None if etags == ["*"] else etags,
                **self.chosen,
            )
        except DomainsChanged:
            raise ApiError("precondition_failed", param="If-Match") from None
        return _respond(stored)


def _respond(domains: AccountDomains) -> ApiResponse:
    return json_response(domains.document(), headers={"ETag": domains.etag})
