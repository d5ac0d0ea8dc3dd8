"""The API's paths and its body limit.

The web worker uses both before it loads Django, so this module imports nothing.
"""

MAX_BODY_BYTES = 8 * 1024


def is_api_path(path: str) -> bool:
    return path == "/v1" or path.startswith("/v1/")
