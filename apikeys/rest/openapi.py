from typing import Any

# An object of the OpenAPI document, in its JSON. Tests check the document as a whole.
Node = dict[str, Any]


def find_success(operation: Node) -> tuple[str, Node]:
    responses: Node = operation["responses"]
    return next(item for item in responses.items() if is_success(item[0]))


def is_success(status: str) -> bool:
    return status.startswith("2")


def only_content(response: Node) -> tuple[str, Node]:
    """Return the media type and the content of a response, for a file those of its default."""
    contents: Node = response["content"]
    return next(iter(contents.items()))
