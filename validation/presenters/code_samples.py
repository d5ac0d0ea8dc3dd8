import json
import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from django.template.loader import render_to_string

_LANGUAGES = ("curl", "Python", "TypeScript", "PHP")


class CodeSample(NamedTuple):
    language: str
    code: str

    @property
    def lexer(self) -> str:
        return self.language.lower()


class Literal(NamedTuple):
    # In ASCII, so that it is also a Python and a JavaScript literal.
    json: str
    php: str

    @classmethod
    def of(cls, text: str) -> "Literal":
        escaped = re.sub(r'[\\"$]', r"\\\g<0>", text)
        php = re.sub(r"[^ -~]", lambda found: f"\\u{{{ord(found[0]):x}}}", escaped)
        return cls(json.dumps(text), f'"{php}"')


def build_code_samples(base_url: str, email: str) -> list[CodeSample]:
    body = shlex.quote(json.dumps({"email": email}))
    return _render(f"{base_url}/v1/validate", body, email=Literal.of(email))


def build_batch_code_samples(base_url: str, emails: Sequence[str]) -> list[CodeSample]:
    body = shlex.quote(json.dumps({"emails": emails}, indent=2))
    return _render(f"{base_url}/v1/validate/batch", body, emails=[*map(Literal.of, emails)])


def _render(url: str, body: str, **values: object) -> list[CodeSample]:
    context = {"url": url, "body": body, **values}
    names = {name: f"validation/samples/{name.lower()}.txt" for name in _LANGUAGES}
    return [
        CodeSample(name, render_to_string(template, context).removesuffix("\n"))
        for name, template in names.items()
    ]
