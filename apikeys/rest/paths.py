"""The API's paths and its body limits.

The web worker uses both before it loads Django, so this module imports nothing.
"""

MAX_BODY_BYTES = 8 * 1024
LARGER_BODIES = {
    # 100 addresses of 320 characters, each escaped as \u1234 or a surrogate pair.
    "/v1/validate/batch": 400 * 1024,
    # 10,000 domains.
    "/v1/domains": 1024 * 1024,
    # A list, or a part of one.
    "/v1/lists": 8 * 1024 * 1024,
    "/v1/lists/*/parts/*": 8 * 1024 * 1024,
    # A bounce message of 4,096 characters and a comment, each character escaped as \u1234.
    "/v1/validations/*/feedback": 32 * 1024,
}


def is_api_path(path: str) -> bool:
    return path == "/v1" or path.startswith("/v1/")


def max_body_bytes(path: str) -> int:
    path = path.removesuffix("/")
    if path.startswith(("/v1/lists/", "/v1/validations/")):
        path = _hide_ids(path)
    return LARGER_BODIES.get(path, MAX_BODY_BYTES)


def _hide_ids(path: str) -> str:
    """Replace what differs between the paths of one operation."""
    steps = path.split("/")
    return "/".join("*" if number in (3, 5) else step for number, step in enumerate(steps))
