"""What belongs to the API, and how large a body it takes. The web worker asks this before Django
is there, so nothing is imported here."""

MAX_BODY_BYTES = 8 * 1024


def is_api_path(path: str) -> bool:
    return path == "/v1" or path.startswith("/v1/")
