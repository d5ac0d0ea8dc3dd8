"""Templates are readable: their lines are short."""

from tests.servers.product import ROOT

MAX_LENGTH = 120
TEMPLATES = ROOT / "templates"
# Code samples and responses, shown character by character. A response is one line of JSON.
EXEMPT = TEMPLATES / "docs" / "examples"


def test_no_line_of_a_template_is_too_long() -> None:
    templates = [path for path in TEMPLATES.rglob("*.*") if EXEMPT not in path.parents]
    assert templates
    assert not [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted(templates)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        # A row of a Markdown table is one line.
        if len(line) > MAX_LENGTH and not line.startswith("| ")
    ]
