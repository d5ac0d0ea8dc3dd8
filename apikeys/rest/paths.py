"""The API's paths and its body limits.

The web worker uses both before it loads Django, so this module imports nothing.
"""

MAX_BODY_BYTES = 8 * 1024
LARGER_BODIES = {
    # 100 addresses of 320 characters, each escaped as \u1234 or a surrogate pair.
    "/v1/validate/batch": 400 * 1024,
}


def is_api_path(path: str) -> bool:
    return path == "/v1" or path.startswith("/v1/")


def max_body_bytes(path: str) -> int:
    return LARGER_BODIES.get(path.removesuffix("/"), MAX_BODY_BYTES)
