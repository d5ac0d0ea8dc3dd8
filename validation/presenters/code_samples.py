import json
import re
import shlex
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_CURL = """\
curl {url} \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d {body}
"""
_PYTHON = """\
from emailvalidation import Client

{addresses}{output}
"""
_PYTHON_OUTPUT = "print(Client().validate({email}).verdict)"
_PYTHON_BATCH_OUTPUT = """\
for result in Client().validate_many(emails):
    print(result.email, result.verdict)"""
_TYPESCRIPT = """\
import {{ Client }} from "emailvalidation";

{addresses}{output}
"""
_TYPESCRIPT_OUTPUT = "console.log((await new Client().validate({email})).verdict);"
_TYPESCRIPT_BATCH_OUTPUT = """\
for await (const result of new Client().validateMany(emails)) {
  console.log(result.email, result.verdict);
}"""
_PHP = """\
<?php
{addresses}$context = stream_context_create(["http" => [
    "method" => "POST",
    "header" => "Authorization: Bearer " . getenv("SVC_API_KEY")
        . "\\r\\nContent-Type: application/json",
    "content" => json_encode({body}),
    "timeout" => {seconds},
    "ignore_errors" => true,
]]);
$response = json_decode(file_get_contents("{url}", false, $context), true);
{output}
"""
_PHP_OUTPUT = 'echo $response["verdict"], "\\n";'
_PHP_BATCH_OUTPUT = """\
foreach ($response["results"] as $result) {
    echo $result["email"], " ", $result["verdict"], "\\n";
}"""


class CodeSample(NamedTuple):
    language: str
    code: str

    @property
    def lexer(self) -> str:
        return self.language.lower()


def build_code_samples(base_url: str, email: str) -> list[CodeSample]:
    # A JSON string in ASCII is also a Python and a JavaScript literal.
    literal = json.dumps(email)
    url, addresses = f"{base_url}/v1/validate", ""
    curl = _CURL.format(url=url, body=shlex.quote(json.dumps({"email": email})))
    python = _PYTHON_OUTPUT.format(email=literal)
    typescript = _TYPESCRIPT_OUTPUT.format(email=literal)
    body = f'["email" => {_php_literal(email)}]'
    return [
        CodeSample("curl", curl),
        CodeSample("Python", _PYTHON.format(addresses=addresses, output=python)),
        CodeSample("TypeScript", _TYPESCRIPT.format(addresses=addresses, output=typescript)),
        CodeSample(
            "PHP",
            _PHP.format(url=url, addresses=addresses, body=body, seconds=10, output=_PHP_OUTPUT),
        ),
    ]


def build_batch_code_samples(base_url: str, emails: Sequence[str]) -> list[CodeSample]:
    url = f"{base_url}/v1/validate/batch"
    body = shlex.quote(json.dumps({"emails": emails}, indent=2))
    literals = list(map(json.dumps, emails))
    in_python = f"emails = {_list(literals, 4)}\n"
    in_typescript = f"const emails = {_list(literals, 2)};\n"
    php = {
        "addresses": f"$emails = {_list(map(_php_literal, emails), 4)};\n",
        "body": '["emails" => $emails]',
        "output": _PHP_BATCH_OUTPUT,
    }
    return [
        CodeSample("curl", _CURL.format(url=url, body=body)),
        CodeSample("Python", _PYTHON.format(addresses=in_python, output=_PYTHON_BATCH_OUTPUT)),
        CodeSample(
            "TypeScript",
            _TYPESCRIPT.format(addresses=in_typescript, output=_TYPESCRIPT_BATCH_OUTPUT),
        ),
        CodeSample("PHP", _PHP.format(url=url, seconds=15, **php)),
    ]


def _list(literals: Iterable[str], indent: int) -> str:
    lines = "".join(f"{' ' * indent}{literal},\n" for literal in literals)
    return f"[\n{lines}]"


def _php_literal(text: str) -> str:
    escaped = re.sub(r'[\\"$]', r"\\\g<0>", text)
    return '"' + re.sub(r"[^ -~]", lambda found: f"\\u{{{ord(found[0]):x}}}", escaped) + '"'
