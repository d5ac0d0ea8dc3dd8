"""Code samples that validate one address, ready to copy. Pure."""

import json
import shlex
from typing import NamedTuple

_CURL = """\
curl {url} \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d {body}
"""
_PYTHON = """\
import json, os, urllib.request

request = urllib.request.Request(
    "{url}",
    data=json.dumps({{"email": {email}}}).encode(),
    headers={{
        "Authorization": "Bearer " + os.environ["SVC_API_KEY"],
        "Content-Type": "application/json",
    }},
)
with urllib.request.urlopen(request, timeout=10) as response:
    print(json.load(response)["verdict"])
"""
_JAVASCRIPT = """\
const response = await fetch("{url}", {{
  method: "POST",
  headers: {{
    Authorization: `Bearer ${{process.env.SVC_API_KEY}}`,
    "Content-Type": "application/json",
  }},
  body: JSON.stringify({{ email: {email} }}),
  signal: AbortSignal.timeout(10_000),
}});
console.log((await response.json()).verdict);
"""
_PHP = """\
<?php
$context = stream_context_create(["http" => [
    "method" => "POST",
    "header" => "Authorization: Bearer " . getenv("SVC_API_KEY")
        . "\\r\\nContent-Type: application/json",
    "content" => json_encode(["email" => {email}]),
    "timeout" => 10,
    "ignore_errors" => true,
]]);
$response = json_decode(file_get_contents("{url}", false, $context), true);
echo $response["verdict"], "\\n";
"""


class CodeSample(NamedTuple):
    language: str
    code: str

    @property
    def lexer(self) -> str:
        """Return the name of the language for syntax colors."""
        return self.language.lower()


def build_code_samples(base_url: str, email: str) -> list[CodeSample]:
    """Return a sample per language. Each reads the key from SVC_API_KEY, so none is hard-coded."""
    url = f"{base_url}/v1/validate"
    # A JSON string in ASCII is also a Python and a JavaScript literal.
    literal = json.dumps(email)
    body = shlex.quote(json.dumps({"email": email}))
    return [
        CodeSample("curl", _CURL.format(url=url, body=body)),
        CodeSample("Python", _PYTHON.format(url=url, email=literal)),
        CodeSample("JavaScript", _JAVASCRIPT.format(url=url, email=literal)),
        CodeSample("PHP", _PHP.format(url=url, email=_php_literal(email))),
    ]


def _php_literal(text: str) -> str:
    """Return an ASCII literal with PHP's escape sequences."""
    return '"' + "".join(map(_php_character, text)) + '"'


def _php_character(character: str) -> str:
    if character in '\\"$':
        return f"\\{character}"
    return character if " " <= character <= "~" else f"\\u{{{ord(character):x}}}"
