from datetime import UTC, datetime

import orjson


def render_json(document: object) -> bytes:
    """Render the JSON of responses and events, with times such as 2026-11-20T18:30:00.123Z."""
    return orjson.dumps(document, default=_format_datetime, option=orjson.OPT_PASSTHROUGH_DATETIME)


def _format_datetime(value: object) -> str:
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} cannot be rendered as JSON.")
    in_utc = value if value.tzinfo is UTC else value.astimezone(UTC)
    return in_utc.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
