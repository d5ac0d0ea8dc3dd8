"""Arrange the API's operations: one page per tag of the OpenAPI document."""

from collections.abc import Iterator
from typing import NamedTuple

from django.conf import settings
from django.urls import reverse

from apikeys.rest import reference
from apikeys.rest.openapi import is_success
from apikeys.rest.schema import COMMON_ERRORS
from reference.docs.pages import PAGES, DocsPage

# Code samples by operation. They show its first result.
_SAMPLES = {
    "validate": "validate",
    "validate-batch": "batch",
    "show-result": "result",
    "send-feedback": "feedback",
    "create-list": "list-upload",
    "replace-domains": "domains",
    "show-events": "events",
    "create-webhook": "webhook-create",
    "show-credits": "balance",
    "show-usage": "usage",
    "show-me": "me",
}
_PAGE_BY_TAG = {page.tag: page for page in PAGES if page.tag}


class ResultEntry(NamedTuple):
    language: str
    status: str
    # The title, if it is collapsed until the reader opens it.
    details: str
    text: str


class OperationEntry(NamedTuple):
    operation: reference.OperationSection
    fields: list[tuple[str, list[reference.FieldRow]]]
    sample: str
    results: list[ResultEntry]
    # Those that not every operation can return.
    errors: list[tuple[str, str]]


def list_groups() -> Iterator[tuple[DocsPage, str, list[reference.OperationSection]]]:
    for tag in settings.SPECTACULAR_SETTINGS["TAGS"]:
        page = _PAGE_BY_TAG[tag["name"]]
        yield page, tag["description"], _operations_of(page)


def describe_operations(page: DocsPage) -> list[OperationEntry]:
    return [_describe_operation(operation) for operation in _operations_of(page)]


def operation_url(operation_id: str) -> str:
    page = _PAGE_BY_TAG[find_operation(operation_id).tag]
    return f"{reverse(page.view_name)}#{operation_id}"


def find_operation(operation_id: str) -> reference.OperationSection:
    return next(operation for operation in reference.operations() if operation.id == operation_id)


def _operations_of(page: DocsPage) -> list[reference.OperationSection]:
    return [operation for operation in reference.operations() if operation.tag == page.tag]


def _describe_operation(operation: reference.OperationSection) -> OperationEntry:
    examples = [
        (title, response.status, text)
        for response in operation.responses
        for title, text in response.examples
    ]
    sample = _SAMPLES.get(operation.id, "")
    results = [example for example in examples if is_success(example[1])]
    if sample and len(results) == 1:
        results = []
    return OperationEntry(
        operation,
        _list_fields(operation),
        sample,
        [
            ResultEntry(
                "json" if text.startswith("{") else "text",
                status,
                title if index or sample else "",
                text,
            )
            for index, (title, status, text) in enumerate(results)
        ],
        [
            (status, code)
            for code, status, _ in examples
            if not is_success(status) and code not in COMMON_ERRORS
        ],
    )


def _list_fields(
    operation: reference.OperationSection,
) -> list[tuple[str, list[reference.FieldRow]]]:
    lists = [
        ("Path parameters", operation.path_parameters),
        ("Query parameters", operation.query),
        ("Request headers", operation.headers),
        ("Request body", operation.body),
        ("Response", operation.result),
        ("Response headers", operation.result_headers),
    ]
    is_other = bool(operation.same_result_as)
    return [
        (title, fields) for title, fields in lists if fields or (is_other and title == "Response")
    ]
