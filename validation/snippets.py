"""The call of one address in several languages, to be copied as it stands. Pure."""

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
with urllib.request.urlopen(request, timeout=10) as answer:
    print(json.load(answer)["verdict"])
"""
_JAVASCRIPT = """\
const answer = await fetch("{url}", {{
  method: "POST",
  headers: {{
    Authorization: `Bearer ${{process.env.SVC_API_KEY}}`,
    "Content-Type": "application/json",
  }},
  body: JSON.stringify({{ email: {email} }}),
  signal: AbortSignal.timeout(10_000),
}});
console.log((await answer.json()).verdict);
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
$answer = json_decode(file_get_contents("{url}", false, $context), true);
echo $answer["verdict"], "\\n";
"""


class Snippet(NamedTuple):
    language: str
    code: str


def snippets(base_url: str, email: str) -> list[Snippet]:
    """The key is read from SVC_API_KEY: nobody is led to write one down."""
    url = f"{base_url}/v1/validate"
    # As ASCII, a JSON string is a string of Python and of JavaScript too.
    literal = json.dumps(email)
    body = shlex.quote(json.dumps({"email": email}))
    return [
        Snippet("curl", _CURL.format(url=url, body=body)),
        Snippet("Python", _PYTHON.format(url=url, email=literal)),
        Snippet("JavaScript", _JAVASCRIPT.format(url=url, email=literal)),
        Snippet("PHP", _PHP.format(url=url, email=_php(email))),
    ]


def _php(text: str) -> str:
    """As ASCII too, in PHP's own way."""
    return '"' + "".join(map(_php_letter, text)) + '"'


def _php_letter(letter: str) -> str:
    if letter in '\\"$':
        return f"\\{letter}"
    return letter if " " <= letter <= "~" else f"\\u{{{ord(letter):x}}}"
