"""Add to the OpenAPI document what drf-spectacular can't derive from the views."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import orjson
from django.http import HttpResponseBase
from django.utils.text import slugify
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiRequest,
    OpenApiResponse,
    extend_schema,
)

from apikeys.errors import REFUSALS, ApiError
from apikeys.rest.openapi import Node, is_success
from apikeys.rest.serializers import ApiSerializer, ErrorSerializer

COMMON_ERRORS = (
    *("bad_request", "missing_api_key", "invalid_api_key", "api_key_revoked", "api_key_expired"),
    *("ip_not_allowed", "account_suspended", "insufficient_scope", "https_required"),
    *("method_not_allowed", "not_acceptable", "request_too_large", "length_required"),
    *("unknown_field", "rate_limit_exceeded", "internal_error", "service_unavailable"),
)
BODY_ERRORS = ("invalid_json", "invalid_field", "unsupported_media_type")
# By status, and those of all responses.
HEADERS: Node = tomllib.loads(Path(__file__).with_name("headers.toml").read_text())
EXAMPLE_ID = "req_2nXfSBqPzK5mYd8wTg4L"

View = Callable[..., HttpResponseBase]
Body = type[ApiSerializer] | Mapping[str, OpenApiRequest] | None
Responses = dict[int | tuple[int, str], OpenApiResponse]


def named_example(title: str, value: object) -> OpenApiExample:
    return OpenApiExample(slugify(title).replace("-", "_"), value, summary=title)


def id_parameter(name: str, example: str) -> OpenApiParameter:
    """Describe an object's id in the path. Its prefix is the example's."""
    article = "An" if name[0] in "aeiou" else "A"
    return OpenApiParameter(
        f"{name}_id",
        {"type": "string", "pattern": f"^{example[:4]}[A-Za-z0-9]{{20}}$"},
        OpenApiParameter.PATH,
        description=f"ID of the {name}",
        examples=[named_example(f"{article} {name}", example)],
    )


def describe(
    operation_id: str,
    summary: str,
    description: str,
    result: type[ApiSerializer] | None,
    *,
    tag: str,
    scope: str = "",
    examples: Mapping[str, object] | None = None,
    refusals: Iterable[str] = (),
    request: Body = None,
    parameters: Iterable[OpenApiParameter | type[ApiSerializer]] = (),
    status: int = 200,
) -> Callable[[View], View]:
    """Document a view's method as an operation, and set the scope that it requires.

    A serializer among the parameters is the query. `refusals` are the codes that don't follow from
    body and parameters. Without a `result`, `examples` are files by media type.
    """
    if result is None:
        responses = _describe_files(examples or {})
    else:
        named = _named(examples or result.examples)
        responses = {status: OpenApiResponse(result, description="The result.", examples=named)}
    described = [
        one
        for parameter in parameters
        for one in (_query_parameters(parameter) if isinstance(parameter, type) else [parameter])
    ]
    extend: Callable[[View], View] = extend_schema(
        operation_id=operation_id,
        summary=summary,
        description=description,
        request=body_of(request) if isinstance(request, type) else request,
        responses=responses | _describe_errors(request, described, refusals),
        parameters=described,
        tags=[tag],
        # OpenAPI 3.1 allows names of scopes for a bearer scheme.
        auth=[{BearerScheme.name: [scope]}] if scope else None,  # type: ignore[list-item]
    )

    def decorate(view: View) -> View:
        # ApiView refuses all others.
        in_query = [one for one in described if one.location == OpenApiParameter.QUERY]
        names = tuple(f"{one.name}[…]" if one.style else one.name for one in in_query)
        setattr(view, "query_parameters", names)  # noqa: B010 - functions have none
        setattr(view, "scope", scope)  # noqa: B010
        return extend(view)

    return decorate


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


def _describe_errors(
    request: Body, parameters: Iterable[OpenApiParameter], refusals: Iterable[str]
) -> Responses:
    codes = {*COMMON_ERRORS, *refusals}
    locations = {parameter.location for parameter in parameters}
    if OpenApiParameter.PATH in locations:
        codes.add("not_found")
    if OpenApiParameter.QUERY in locations:
        codes.add("invalid_field")
    if isinstance(request, type):
        codes.update(BODY_ERRORS)
        if any(field.required for field in request.known_fields().values()):
            codes.add("missing_field")
    by_status: dict[int, list[str]] = {}
    for code, refusal in REFUSALS.items():
        if code in codes:
            by_status.setdefault(refusal.status, []).append(code)
    return {
        status: OpenApiResponse(
            ErrorSerializer,
            description=", ".join(f"`{code}`" for code in by_status[status]),
            examples=[_error_example(code) for code in by_status[status]],
        )
        for status in sorted(by_status)
    }


def body_of(serializer: type[ApiSerializer]) -> OpenApiRequest:
    return OpenApiRequest(serializer, examples=_named(serializer.examples))


def _named(examples: Mapping[str, object]) -> list[OpenApiExample]:
    return [named_example(title, value) for title, value in examples.items()]


def _query_parameters(serializer: type[ApiSerializer]) -> Iterator[OpenApiParameter]:
    generator = AutoSchema()
    for name, field in serializer.known_fields().items():
        schema = generator._map_serializer_field(field, "request")  # type: ignore[no-untyped-call]
        generator._insert_field_validators(field, schema)  # type: ignore[no-untyped-call]
        schema.pop("x-spec-enum-id", None)
        # There is no null in a query.
        if isinstance(schema["type"], list):
            schema["type"] = schema["type"][0]
        yield OpenApiParameter(
            name,
            schema,
            description=schema.pop("description"),
            examples=[named_example(*field.example)],
            style="deepObject" if schema["type"] == "object" else None,
        )


# The examples would take half a megabyte of each web worker.
@cache
def _error_example(code: str) -> OpenApiExample:
    refusal = REFUSALS[code]
    error = ApiError(code, param=refusal.param, details=refusal.details)
    return named_example(code, orjson.loads(error.body(EXAMPLE_ID)))


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "apikeys.authentication.bearer.BearerAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "`Authorization: Bearer svc_live_…`, from server-side code only.",
        }


def complete_schema(result: Node, **_: object) -> Node:
    """Add what every operation shares. drf-spectacular calls this as a postprocessing hook."""
    components = result["components"]
    components["headers"] = {
        name: header for headers in HEADERS.values() for name, header in headers.items()
    }
    components["examples"], components["responses"] = {}, {}
    for schema in components["schemas"].values():
        for field in schema.get("properties", {}).values():
            # A note of drf-spectacular to its own hook, which would give each enum a schema.
            field.pop("x-spec-enum-id", None)
    operations = [one for methods in result["paths"].values() for one in methods.values()]
    for operation in operations:
        for status, response in operation["responses"].items():
            names = [*HEADERS["all"], *HEADERS.get(status, {})]
            refs = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
            response["headers"] = {**refs, **response.get("headers", {})}
            if not is_success(status):
                components["examples"] |= _refer_to_examples(response)
        _forbid_unknown_fields(operation, components["schemas"])
    _share_errors(operations, components["responses"])
    return result


def _refer_to_examples(response: Node) -> Node:
    """Replace an error's examples with references by code, and return the examples."""
    content = response["content"]["application/json"]
    examples = {example["summary"]: example for example in content["examples"].values()}
    content["examples"] = {code: {"$ref": f"#/components/examples/{code}"} for code in examples}
    return examples


def _share_errors(operations: list[Node], shared: Node) -> None:
    """Replace errors that are the same in all operations with references by status."""
    for status in sorted({status for operation in operations for status in operation["responses"]}):
        found = [one["responses"] for one in operations if status in one["responses"]]
        error = found[0][status]
        if not is_success(status) and all(responses[status] == error for responses in found):
            shared[f"Error{status}"] = error
            for responses in found:
                responses[status] = {"$ref": f"#/components/responses/Error{status}"}


def _forbid_unknown_fields(operation: Node, schemas: Node) -> None:
    """Mark request bodies as closed. Responses may gain fields."""
    for content in operation.get("requestBody", {"content": {}})["content"].values():
        # The body of an upload is a file, not an object.
        if "$ref" in content["schema"]:
            name = content["schema"]["$ref"].rpartition("/")[2]
            schemas[name]["additionalProperties"] = False
