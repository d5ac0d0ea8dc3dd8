"""The design's colors: every text has enough contrast with its background (WCAG AA)."""

import re
from pathlib import Path

TOKENS = (Path(__file__).resolve().parents[2] / "static/css/tokens.css").read_text()
# A color of both themes, or of light and dark.
COLORS = re.findall(r"--([\w-]+): (?:light-dark\()?(#[0-9a-f]{6})(?:, (#[0-9a-f]{6})\))?;", TOKENS)
LIGHT = {name: light for name, light, _ in COLORS}
DARK = {name: dark or light for name, light, dark in COLORS}

BACKGROUNDS = ("surface", "raised", "ground")
PAIRS = [
    *((text, ground) for text in ("ink", "muted", "faint", "accent") for ground in BACKGROUNDS),
    ("accent", "accent-tint"),
    ("on-accent", "accent-fill"),
    ("on-accent", "accent-fill-strong"),
    *(
        (f"code-{part}", ground)
        for part in ("name", "string", "number", "keyword", "comment")
        for ground in BACKGROUNDS
    ),
    *(
        (verdict, ground)
        for verdict in ("deliverable", "risky", "undeliverable", "unknown")
        for ground in ("surface", f"{verdict}-tint")
    ),
]


def luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_has_enough_contrast_with_its_background() -> None:
    for colors in (LIGHT, DARK):
        for text, ground in PAIRS:
            assert contrast(colors[text], colors[ground]) >= 4.5, (text, ground)


def test_every_color_of_the_tokens_is_checked() -> None:
    assert len(COLORS) == len(re.findall(r"--[\w-]+: (?:light-dark|#)", TOKENS))
