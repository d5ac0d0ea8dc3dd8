import json
import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from django.template.loader import render_to_string

from apikeys.client_packages import PYTHON_PACKAGE

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


def first_request(secret: str, base_url: str) -> str:
    sample = build_code_samples(base_url, "deliverable@sandbox.test")[0]
    return f"export SVC_API_KEY={secret}\n{sample.code.rstrip()}"


def install_client(base_url: str) -> str:
    return (
        f"pip install {PYTHON_PACKAGE}\n"
        f"export SVC_BASE_URL={base_url}\n"
        "emailvalidation validate deliverable@sandbox.test"
    )


def _render(url: str, body: str, **values: object) -> list[CodeSample]:
    context = {"url": url, "body": body, **values}
    names = {name: f"validation/samples/{name.lower()}.txt" for name in _LANGUAGES}
    return [
        CodeSample(name, render_to_string(template, context).removesuffix("\n"))
        for name, template in names.items()
    ]
