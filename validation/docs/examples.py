"""Load the code samples of the docs from templates/docs/examples, one file per language.

Each is shown with its output. tests/journeys/test_docs_examples.py runs every sample exactly as its
page shows it, so the docs offer only languages that this test can run.
"""

from dataclasses import dataclass
from typing import Any

from django.template import TemplateDoesNotExist
from django.template.loader import render_to_string


@dataclass(frozen=True)
class Language:
    name: str
    label: str
    file: str
    # The requirements to run the sample.
    needs: str
    # Captions by output file. Each sample has one of these files.
    output_captions: dict[str, str]


_OUTPUT_CAPTIONS = {"printed.txt": "Output"}
LANGUAGES = (
    Language(
        "curl",
        "curl",
        "code.sh",
        "Terminal",
        {"answer.txt": "Response", "part.txt": "Response (excerpt)"},
    ),
    Language("python", "Python", "code.py", "Nothing to install", _OUTPUT_CAPTIONS),
    Language("javascript", "JavaScript", "code.mjs", "Node.js 18 or newer", _OUTPUT_CAPTIONS),
)


@dataclass(frozen=True)
class Snippet:
    language: Language
    code: str
    caption: str
    printed: str

    @property
    def printed_language(self) -> str:
        """Return the language that the filter `highlight` colors the output in."""
        if self.printed.startswith("{"):
            return "json"
        return "http" if self.printed.startswith("HTTP/") else "text"


class IncompleteExample(Exception):
    """A sample has no code or no output."""


def load_snippets(name: str, context: dict[str, Any]) -> list[Snippet]:
    """Return the sample in each language that has a file, rendered with the page's context."""
    texts = [(language, _text(name, language.file, context)) for language in LANGUAGES]
    snippets = [
        Snippet(language, code, *_output(name, language, context))
        for language, code in texts
        if code
    ]
    if not snippets:
        raise IncompleteExample(name)
    return snippets


def _output(name: str, language: Language, context: dict[str, Any]) -> tuple[str, str]:
    for file, caption in language.output_captions.items():
        if text := _text(name, file, context):
            return caption, text
    raise IncompleteExample(f"{name} in {language.label}")


def _text(name: str, file: str, context: dict[str, Any]) -> str:
    try:
        return render_to_string(f"docs/examples/{name}/{file}", context).strip()
    except TemplateDoesNotExist:
        return ""
