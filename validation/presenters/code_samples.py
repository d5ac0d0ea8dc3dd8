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
import json, os, urllib.request

{addresses}request = urllib.request.Request(
    "{url}",
    data=json.dumps({body}).encode(),
    headers={{
        "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
        "Content-Type": "application/json",
    }},
)
with urllib.request.urlopen(request, timeout={seconds}) as response:
    {output}
"""
_PYTHON_OUTPUT = 'print(json.load(response)["verdict"])'
_PYTHON_BATCH_OUTPUT = """\
for result in json.load(response)["results"]:
        print(result["email"], result["verdict"])"""
_JAVASCRIPT = """\
{addresses}const response = await fetch("{url}", {{
  method: "POST",
  headers: {{
    Authorization: `Bearer ${{process.env.SVC_API_KEY}}`,
    "Content-Type": "application/json",
  }},
  body: JSON.stringify({body}),
  signal: AbortSignal.timeout({seconds}_000),
}});
{output}
"""
_JAVASCRIPT_OUTPUT = "console.log((await response.json()).verdict);"
_JAVASCRIPT_BATCH_OUTPUT = """\
for (const result of (await response.json()).results) {
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
    parts = {"url": f"{base_url}/v1/validate", "seconds": 10, "addresses": ""}
    python = {"body": f'{{"email": {literal}}}', "output": _PYTHON_OUTPUT}
    javascript = {"body": f"{{ email: {literal} }}", "output": _JAVASCRIPT_OUTPUT}
    php = {"body": f'["email" => {_php_literal(email)}]', "output": _PHP_OUTPUT}
    return [
        CodeSample("curl", _CURL.format(**parts, body=shlex.quote(json.dumps({"email": email})))),
        CodeSample("Python", _PYTHON.format(**parts, **python)),
        CodeSample("JavaScript", _JAVASCRIPT.format(**parts, **javascript)),
        CodeSample("PHP", _PHP.format(**parts, **php)),
    ]


def build_batch_code_samples(base_url: str, emails: Sequence[str]) -> list[CodeSample]:
    parts = {"url": f"{base_url}/v1/validate/batch", "seconds": 15}
    body = shlex.quote(json.dumps({"emails": emails}, indent=2))
    literals = list(map(json.dumps, emails))
    python = {
        "addresses": f"emails = {_list(literals, 4)}\n",
        "body": '{"emails": emails}',
        "output": _PYTHON_BATCH_OUTPUT,
    }
    javascript = {
        "addresses": f"const emails = {_list(literals, 2)};\n",
        "body": "{ emails }",
        "output": _JAVASCRIPT_BATCH_OUTPUT,
    }
    php = {
        "addresses": f"$emails = {_list(map(_php_literal, emails), 4)};\n",
        "body": '["emails" => $emails]',
        "output": _PHP_BATCH_OUTPUT,
    }
    return [
        CodeSample("curl", _CURL.format(**parts, body=body)),
        CodeSample("Python", _PYTHON.format(**parts, **python)),
        CodeSample("JavaScript", _JAVASCRIPT.format(**parts, **javascript)),
        CodeSample("PHP", _PHP.format(**parts, **php)),
    ]


def _list(literals: Iterable[str], indent: int) -> str:
    lines = "".join(f"{' ' * indent}{literal},\n" for literal in literals)
    return f"[\n{lines}]"


def _php_literal(text: str) -> str:
    escaped = re.sub(r'[\\"$]', r"\\\g<0>", text)
    return '"' + re.sub(r"[^ -~]", lambda found: f"\\u{{{ord(found[0]):x}}}", escaped) + '"'
