"""Load the docs' code samples from templates/docs/examples, one file per language.

tests/journeys/test_docs_examples.py runs every sample as its page shows it.
"""

from dataclasses import dataclass
from typing import Any

from django.template import TemplateDoesNotExist
from django.template.loader import render_to_string


@dataclass(frozen=True)
class Language:
    name: str
    label: str
    # The language of its code blocks in Markdown.
    fence: str
    file: str
    needs: str
    # By output file, of which each sample has one.
    output_titles: dict[str, str]


_PRINTED = {"printed.txt": "Output"}
_RESPONSE = {"answer.txt": "Response", "part.txt": "Response (excerpt)"}
# Those with our clients come first. `http-` is for what curl can't show.
LANGUAGES = (
    Language("python", "Python", "python", "code.py", "with our client", _PRINTED),
    Language("typescript", "TypeScript", "typescript", "code.mjs", "with our client", _PRINTED),
    Language("curl", "curl", "sh", "code.sh", "Terminal", _RESPONSE),
    Language("http-python", "Python, HTTP", "python", "http.py", "Nothing to install", _PRINTED),
    Language(
        "http-javascript",
        "JavaScript, HTTP",
        "javascript",
        "http.mjs",
        "Node.js 18 or newer",
        _PRINTED,
    ),
)
LANGUAGE_BY_LABEL = {language.label: language for language in LANGUAGES}


@dataclass(frozen=True)
class Snippet:
    language: Language
    # The language's, unless the sample needs a library.
    needs: str
    code: str
    output_title: str
    output: str

    @property
    def output_language(self) -> str:
        if self.output.startswith("{"):
            return "json"
        return "http" if self.output.startswith("HTTP/") else "text"


class IncompleteExample(Exception):
    pass


def load_snippets(name: str, context: dict[str, Any]) -> list[Snippet]:
    texts = [(language, _text(name, language.file, context)) for language in LANGUAGES]
    snippets = [
        Snippet(
            language,
            _text(name, f"{language.file}.needs", context) or language.needs,
            code,
            *_output(name, language, context),
        )
        for language, code in texts
        if code
    ]
    if not snippets:
        raise IncompleteExample(name)
    return snippets


def _output(name: str, language: Language, context: dict[str, Any]) -> tuple[str, str]:
    for file, title in language.output_titles.items():
        if text := _text(name, file, context):
            return title, text
    raise IncompleteExample(f"{name} in {language.label}")


def _text(name: str, file: str, context: dict[str, Any]) -> str:
    try:
        return render_to_string(f"docs/examples/{name}/{file}", context).strip()
    except TemplateDoesNotExist:
        return ""
