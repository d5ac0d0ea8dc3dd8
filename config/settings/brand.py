from pathlib import Path

from config.settings.environment import Environment

MAX_BYTES = 64 * 1024


def product_name(env: Environment) -> str:
    # It is in HTML, texts and the sender's name: nothing here needs escaping.
    sentence = "must be at most 40 letters, digits, spaces, periods and hyphens."
    return env.matching("PRODUCT_NAME", "Email Validation", r"\w[\w .-]{0,39}", sentence)


def brand_mark(env: Environment) -> str:
    """Return the SVG in BRAND_MARK_FILE. Pages show it as an image, in which no script runs."""
    if not env.is_set("BRAND_MARK_FILE"):
        return ""
    try:
        svg = Path(env.text("BRAND_MARK_FILE")).read_text()
    except (OSError, UnicodeDecodeError):
        svg = ""
    if "<svg" not in svg or len(svg) > MAX_BYTES:
        env.report("BRAND_MARK_FILE", f"must name an SVG file of at most {MAX_BYTES} bytes.")
    return svg
