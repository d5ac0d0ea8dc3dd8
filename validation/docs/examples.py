"""The runnable examples of the docs: files of templates/docs/examples, one a language.

Each is shown with what it prints, and a journey runs each as it stands on its page. A language that
journey cannot run is not shown.
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
    # What one needs to run it.
    needs: str
    # Where it stands what it prints, and what the page calls that: there is one of these.
    printed: dict[str, str]


_PRINTED = {"printed.txt": "It prints"}
LANGUAGES = (
    Language(
        "curl",
        "curl",
        "code.sh",
        "A terminal",
        {"answer.txt": "The answer", "part.txt": "The answer, in part"},
    ),
    Language("python", "Python", "code.py", "Nothing to install", _PRINTED),
    Language("javascript", "JavaScript", "code.mjs", "Node.js 18 or newer", _PRINTED),
)


@dataclass(frozen=True)
class Snippet:
    language: Language
    code: str
    caption: str
    printed: str


class ExampleIsIncomplete(Exception):
    """There is no program of this name, or nothing says what it prints: it cannot be shown."""


def snippets_of(name: str, facts: dict[str, Any]) -> list[Snippet]:
    """Of the languages there is a file for. `facts`: what the page's templates know."""
    texts = [(language, _text(name, language.file, facts)) for language in LANGUAGES]
    snippets = [
        Snippet(language, code, *_printed(name, language, facts))
        for language, code in texts
        if code
    ]
    if not snippets:
        raise ExampleIsIncomplete(name)
    return snippets


def _printed(name: str, language: Language, facts: dict[str, Any]) -> tuple[str, str]:
    for file, caption in language.printed.items():
        if text := _text(name, file, facts):
            return caption, text
    raise ExampleIsIncomplete(f"{name} in {language.label}")


def _text(name: str, file: str, facts: dict[str, Any]) -> str:
    try:
        return render_to_string(f"docs/examples/{name}/{file}", facts).strip()
    except TemplateDoesNotExist:
        return ""
