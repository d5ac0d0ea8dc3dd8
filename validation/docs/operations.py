"""Arrange the API's operations for the reference: one page per tag of the OpenAPI document."""

from collections.abc import Iterator
from typing import NamedTuple

from django.conf import settings
from django.urls import reverse

from apikeys.rest import reference
from apikeys.rest.openapi import is_success
from validation.docs.pages import PAGES, Page

# Operations with a code sample, which shows the first result.
_SAMPLES = {
    "validate": "validate",
    "validate-batch": "batch",
    "show-result": "result",
    "send-feedback": "feedback",
    "create-list": "list-upload",
    "replace-domains": "domains",
    "show-credits": "balance",
    "show-usage": "usage",
    "show-me": "me",
}
_PAGE_BY_TAG = {page.tag: page for page in PAGES if page.tag}


class ResultEntry(NamedTuple):
    title: str
    status: str
    text: str

    @property
    def language(self) -> str:
        """Return the language that the filter `highlight` colors the text in."""
        return "json" if self.text.startswith("{") else "text"


class OperationEntry(NamedTuple):
    operation: reference.Operation
    # The name of the code sample, or an empty string.
    sample: str
    # Unless a code sample shows it.
    first_result: ResultEntry | None
    other_results: list[ResultEntry]
    # Status and code.
    errors: list[tuple[str, str]]


class OperationGroup(NamedTuple):
    page: Page
    text: str
    operations: list[reference.Operation]


def list_groups() -> Iterator[OperationGroup]:
    """Yield the tags of the OpenAPI document in its order."""
    for tag in settings.SPECTACULAR_SETTINGS["TAGS"]:
        page = _PAGE_BY_TAG[tag["name"]]
        yield OperationGroup(page, tag["description"], _operations_of(page))


def describe_operations(page: Page) -> list[OperationEntry]:
    return [_describe_operation(operation) for operation in _operations_of(page)]


def operation_url(operation_id: str) -> str:
    page = _PAGE_BY_TAG[find_operation(operation_id).tag]
    return f"{reverse(page.view_name)}#{operation_id}"


def find_operation(operation_id: str) -> reference.Operation:
    return next(operation for operation in reference.operations() if operation.id == operation_id)


def _operations_of(page: Page) -> list[reference.Operation]:
    return [operation for operation in reference.operations() if operation.tag == page.tag]


def _describe_operation(operation: reference.Operation) -> OperationEntry:
    results: list[ResultEntry] = []
    errors: list[tuple[str, str]] = []
    for response in operation.responses:
        for title, text in response.examples:
            if is_success(response.status):
                results.append(ResultEntry(title, response.status, text))
            else:
                errors.append((response.status, title))
    sample = _SAMPLES.get(operation.id, "")
    if not sample:
        return OperationEntry(operation, sample, results[0], results[1:], errors)
    return OperationEntry(operation, sample, None, results if len(results) > 1 else [], errors)
