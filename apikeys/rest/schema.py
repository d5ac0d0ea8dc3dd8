"""The parts of the OpenAPI document that drf-spectacular cannot derive from the views."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache

import orjson
from django.http import HttpResponseBase
from django.utils.text import slugify
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema,
)
from rest_framework.serializers import Serializer

from apikeys.errors import REFUSALS, SAMPLE_DETAILS, SAMPLE_PARAMS, ApiError
from apikeys.rest.openapi import (
    Document,
    Example,
    Header,
    Operation,
    Response,
    Schema,
    Schemas,
    is_success,
)
from apikeys.rest.serializers import ErrorSerializer

# Errors that every operation can return.
COMMON_ERRORS = (
    *("bad_request", "missing_api_key", "invalid_api_key", "api_key_revoked", "api_key_expired"),
    *("ip_not_allowed", "account_suspended", "https_required", "method_not_allowed"),
    *("not_acceptable", "request_too_large", "length_required", "unknown_field"),
    *("rate_limit_exceeded", "internal_error", "service_unavailable"),
)
EXAMPLE_ID = "req_2nXfSBqPzK5mYd8wTg4L"

View = Callable[..., HttpResponseBase]


def named_example(title: str, value: object) -> OpenApiExample:
    """Return an example whose name drf-spectacular makes fit for code: `RiskyPossibleTypo`."""
    return OpenApiExample(slugify(title).replace("-", "_"), value, summary=title)


def describe(
    operation_id: str,
    summary: str,
    description: str,
    result: type[Serializer[None]] | None,
    *,
    tag: str,
    examples: Mapping[str, object],
    refusals: Iterable[str] = COMMON_ERRORS,
    request: OpenApiRequest | Mapping[str, OpenApiRequest] | None = None,
    parameters: Iterable[OpenApiParameter] = (),
    status: int = 200,
) -> Callable[[View], View]:
    """Document a view's method as an operation. config/settings/openapi.py describes its tag.

    Without a `result`, the operation returns a file, and `examples` has one by media type.
    """
    responses = _describe_result(status, result, examples) if result else _describe_files(examples)
    for error_status in sorted({REFUSALS[code].status for code in refusals}):
        codes = [code for code in refusals if REFUSALS[code].status == error_status]
        responses[error_status] = OpenApiResponse(
            ErrorSerializer,
            description=", ".join(f"`{code}`" for code in codes),
            examples=[_error_example(code) for code in codes],
        )
    decorator: Callable[[View], View] = extend_schema(
        operation_id=operation_id,
        summary=summary,
        description=description,
        request=request,
        responses=responses,
        parameters=list(parameters),
        tags=[tag],
    )
    return decorator


Responses = dict[int | tuple[int, str], OpenApiResponse]


def _describe_result(
    status: int, result: type[Serializer[None]], examples: Mapping[str, object]
) -> Responses:
    named = [named_example(title, value) for title, value in examples.items()]
    return {status: OpenApiResponse(result, description="The result.", examples=named)}


def _describe_files(examples: Mapping[str, object]) -> Responses:
    return {
        (200, media_type): OpenApiResponse(
            OpenApiTypes.STR,
            description="The file.",
            examples=[
                OpenApiExample(f"File{number}", text, summary="A file", media_type=media_type)
            ],
        )
        for number, (media_type, text) in enumerate(examples.items(), 1)
    }


# All operations share the examples, which would take half a megabyte of each web worker.
@cache
def _error_example(code: str) -> OpenApiExample:
    error = ApiError(code, param=SAMPLE_PARAMS.get(code), details=SAMPLE_DETAILS.get(code, {}))
    return named_example(code, orjson.loads(error.body(EXAMPLE_ID)))


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "apikeys.authentication.BearerAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "`Authorization: Bearer svc_live_…`, from server-side code only.",
        }


def _header(description: str, kind: str, example: object) -> Header:
    return {"description": description, "schema": {"type": kind}, "example": example}


HEADER_SCHEMAS = {
    "X-RateLimit-Limit": _header("Requests allowed per window of 60 s.", "integer", 60),
    "X-RateLimit-Remaining": _header("Requests left in this window.", "integer", 42),
    "X-RateLimit-Reset": _header(
        "Unix time, in seconds, at which the window ends.", "integer", 1_795_000_020
    ),
    "RateLimit-Policy": _header(
        "The limit, in the format of the IETF draft.", "string", '"account";q=60;w=60'
    ),
    "RateLimit": _header(
        "What is left, in the format of the IETF draft.", "string", '"account";r=42;t=17'
    ),
    "X-Request-Id": _header(
        "Identifies this request. Your own id, if it has 8 to 64 letters, digits, - or _.",
        "string",
        EXAMPLE_ID,
    ),
}
STATUS_HEADER_SCHEMAS = {
    "401": {
        "WWW-Authenticate": _header(
            "The challenge of RFC 6750.", "string", 'Bearer realm="api", error="invalid_token"'
        )
    },
    "405": {"Allow": _header("The methods that the operation supports.", "string", "POST")},
    "429": {"Retry-After": _header("Seconds to wait before retrying, at least 1.", "integer", 17)},
}


def complete_schema(result: Document, **_: object) -> Document:
    """Add what every operation shares. drf-spectacular calls this as a postprocessing hook."""
    components = result["components"]
    components["headers"] = {
        **HEADER_SCHEMAS,
        **{
            name: header
            for extra in STATUS_HEADER_SCHEMAS.values()
            for name, header in extra.items()
        },
    }
    components["examples"] = {}
    for schema in components["schemas"].values():
        _remove_enum_ids(schema)
    for methods in result["paths"].values():
        for operation in methods.values():
            for status, response in operation["responses"].items():
                _refer_to_headers(status, response)
                if not is_success(status):
                    components["examples"] |= _refer_to_examples(response)
            _forbid_unknown_fields(operation, components["schemas"])
    return result


def _remove_enum_ids(schema: Schema) -> None:
    """Remove drf-spectacular's notes to its own hook, which would give each enum a schema."""
    for field in schema.get("properties", {}).values():
        field.pop("x-spec-enum-id", None)


def _refer_to_headers(status: str, response: Response) -> None:
    names = [*HEADER_SCHEMAS, *STATUS_HEADER_SCHEMAS.get(status, {})]
    refs: dict[str, Header] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
    response["headers"] = {**refs, **response.get("headers", {})}


def _refer_to_examples(response: Response) -> dict[str, Example]:
    """Replace an error's examples with references by code, and return the examples."""
    content = response["content"]["application/json"]
    examples = {example["summary"]: example for example in content["examples"].values()}
    content["examples"] = {code: {"$ref": f"#/components/examples/{code}"} for code in examples}
    return examples


def _forbid_unknown_fields(operation: Operation, schemas: Schemas) -> None:
    """Mark request bodies as closed. Responses stay open, as they may gain fields."""
    for content in operation.get("requestBody", {"content": {}})["content"].values():
        # The body of an upload is a file, not an object.
        if "$ref" in content["schema"]:
            name = content["schema"]["$ref"].rpartition("/")[2]
            schemas[name]["additionalProperties"] = False
