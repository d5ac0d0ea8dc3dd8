"""Paths and body limits. The web worker needs them before Django, so this imports nothing."""

MAX_BODY_BYTES = 8 * 1024
LARGER_BODIES = {
    # 100 addresses of 320 characters, escaped.
    "/v1/validate/batch": 400 * 1024,
    # Up to 10,000 addresses, or 100 as in a batch.
    "/v1/mcp": 400 * 1024,
    # 10,000 domains.
    "/v1/domains": 1024 * 1024,
    # A list, or a part.
    "/v1/lists": 8 * 1024 * 1024,
    "/v1/lists/*/parts/*": 8 * 1024 * 1024,
    # A bounce message and a comment, escaped.
    "/v1/validations/*/feedback": 32 * 1024,
}


def is_api_path(path: str) -> bool:
    return path == "/v1" or path.startswith("/v1/")


def max_body_bytes(path: str) -> int:
    path = path.removesuffix("/")
    if path.startswith(("/v1/lists/", "/v1/validations/")):
        steps = path.split("/")
        path = "/".join("*" if number in (3, 5) else step for number, step in enumerate(steps))
    return LARGER_BODIES.get(path, MAX_BODY_BYTES)
