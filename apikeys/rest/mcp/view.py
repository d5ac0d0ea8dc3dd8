"""POST /v1/mcp: tools for assistants, which call the API's operations."""

import copy
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

import orjson
from django.http import HttpResponse
from django.urls import ResolverMatch

from apikeys.authentication.permissions import HasScope
from apikeys.errors import ApiError
from apikeys.request import ApiHttpRequest, ApiRequest
from apikeys.rest.mcp import protocol
from apikeys.rest.mcp.protocol import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from apikeys.rest.mcp.tools import EXTRA, Tool, tools
from apikeys.rest.openapi import Node
from apikeys.rest.request_body import invalid_field, missing_field, refuse_unknown_fields
from apikeys.rest.responses import ApiResponse
from apikeys.rest.view import ApiView

# Of an operation's response: these stay HTTP errors, so that a client's own handling works.
HTTP_ERRORS = (401, 403, 413, 429)
FORWARDED = ("X-Credits-Cost", "X-Credits-Remaining", "Idempotent-Replayed")


class McpView(ApiView):
    schema = None
    # Those of all tools: the key is found once.
    account_relations = ("wallet", "subscription")
    # Each operation takes its own.
    uses_account_slots = False

    def post(self, request: ApiRequest) -> HttpResponse:
        message: Node = {}
        try:
            message = protocol.read_message(request)
            protocol.check_version(message, request.META)
            if "id" not in message:
                # Notifications need no answer.
                return ApiResponse(b"", 202)
            return self.answer(message)
        except RpcError as error:
            return error.response(message.get("id"))

    def answer(self, message: Node) -> HttpResponse:
        params = message["params"]
        match message["method"]:
            case "server/discover":
                result = protocol.discover()
            case "initialize":
                result = protocol.initialize(params)
            case "ping":
                result = {}
            case "tools/list":
                allowed = [tool.describe() for tool in tools if self.allows(tool)]
                result = protocol.cacheable({"tools": allowed})
            case "tools/call":
                return self.call_tool(message["id"], params)
            case _:
                raise RpcError(METHOD_NOT_FOUND, "There is no method with this name.")
        return protocol.result_response(message["id"], result)

    def allows(self, tool: Tool) -> bool:
        _, match = tool.resolve({})
        scope = getattr(getattr(_view_class(match), tool.method.lower()), "scope", "")
        return not scope or self.request.call.key.has_scope(scope)

    def call_tool(self, message_id: object, params: Node) -> HttpResponse:
        tool = next((tool for tool in tools if tool.name == params.get("name")), None)
        if tool is None:
            raise RpcError(INVALID_PARAMS, "There is no tool with this name.")
        arguments = params.get("arguments") or {}
        if not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "The arguments must be an object.")
        response = self.run(tool, arguments)
        if response.status_code in HTTP_ERRORS:
            return response
        document = orjson.loads(response.content)
        result = {
            "content": [{"type": "text", "text": response.content.decode()}],
            "structuredContent": document,
            "isError": response.status_code >= 400,
        }
        headers = {name: response.headers[name] for name in FORWARDED if name in response.headers}
        return protocol.result_response(message_id, protocol.complete(result), headers)

    def run(self, tool: Tool, arguments: dict[str, Any]) -> HttpResponse:
        """Call the operation. Authentication and the first request of the rate limit are done."""
        path, match = tool.resolve(arguments)
        view = _view_class(match)()
        view.args, view.kwargs = match.args, match.kwargs
        view.headers = view.default_response_headers
        request = view.request = ApiRequest(self.build_request(tool, path, arguments), [])
        try:
            HasScope().has_permission(request, view)
            _check_arguments(tool, arguments)
            if view.uses_account_slots:
                view.take_connection()
            view.find_object()
            view.check_method()
            view.prepare()
            view.find_replay()
            _check_price(request.call.price, arguments)
            for permission in view.billing_classes:
                permission().check(request)
            handler = getattr(view, tool.method.lower())
            response: HttpResponse = handler(request, **match.kwargs)
        except Exception as error:
            # Raises those that aren't refusals again.
            response = view.handle_exception(error)
        return response

    def build_request(self, tool: Tool, path: str, arguments: Mapping[str, Any]) -> ApiHttpRequest:
        """Return the request that the operation would have got, with the state of this one."""
        own = {"list_id", *EXTRA} - ({"max_credits"} if tool.knows_limit else set())
        sent = {name: value for name, value in arguments.items() if name not in own}
        has_body = tool.method == "POST"
        body = orjson.dumps({**sent, **tool.constants}) if has_body else b""
        request = copy.copy(self.request._request)
        request.__dict__.pop("GET", None)
        request.method, request.path, request.path_info = tool.method, path, path
        request.META = {
            **request.META,
            "REQUEST_METHOD": tool.method,
            "PATH_INFO": path,
            "QUERY_STRING": "" if has_body else urlencode(sent),
            "CONTENT_TYPE": "application/json" if has_body else "",
            "CONTENT_LENGTH": str(len(body)),
        }
        if "idempotency_key" in arguments:
            request.META["HTTP_IDEMPOTENCY_KEY"] = str(arguments["idempotency_key"])
        # As WSGIRequest's constructor sets them.
        vars(request).update(environ=request.META, _stream=BytesIO(body), _read_started=False)
        return request


def _view_class(match: ResolverMatch) -> type[ApiView]:
    view: type[ApiView] = match.func.cls  # type: ignore[attr-defined]
    return view


def _check_arguments(tool: Tool, arguments: dict[str, Any]) -> None:
    """Refuse what the operation itself doesn't know or check."""
    for name in tool.required:
        if name not in arguments:
            raise missing_field(name)
    most = arguments.get("max_credits", 1)
    if type(most) is not int or most < 1:
        raise invalid_field("max_credits", "max_credits must be a whole number of at least 1.")
    if not isinstance(arguments.get("idempotency_key", ""), str):
        raise invalid_field("idempotency_key", "idempotency_key must be a string.")
    refuse_unknown_fields(arguments, *tool.arguments)
    if "confirm" in tool.arguments and arguments["confirm"] is not True:
        message = "Ask the user first, then call it again with confirm: true. Nothing was charged."
        raise ApiError("confirmation_required", message, param="confirm")


def _check_price(price: int, arguments: Mapping[str, Any]) -> None:
    most = arguments.get("max_credits")
    if most is not None and price > most:
        details = {"required": price, "max_credits": most}
        message = f"The call can cost {price} credits, more than max_credits. Nothing was charged."
        raise ApiError("max_credits_exceeded", message, param="max_credits", details=details)
