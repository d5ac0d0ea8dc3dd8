"""The examples of the docs, taken from the pages as a reader takes them, run, and compared."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from html import unescape
from typing import Any

from tests.servers.browser import PlainBrowser
from tests.servers.product import Product
from validation.docs.pages import PAGES

RUNNERS = {
    "curl": ["bash", "-c"],
    "python": [sys.executable, "-c"],
    "javascript": ["node", "--input-type=module", "--eval"],
}
_CODE = re.compile(r'<code id="([\w-]+)" data-runs="(\w+)">(.*?)</code>', re.DOTALL)
_PRINTED = re.compile(
    r'<figcaption>([^<]*)</figcaption>\s*<pre[^>]*><code data-printed-by="([\w-]+)">(.*?)</code>',
    re.DOTALL,
)
# Ids, moments and counts, which are others each time.
_ANYTHING = {
    *("id", "name", "display", "created_at", "request_id", "remaining", "duration_ms"),
    *("balance", "used_this_period", "plan", "next_grant", "next_grant_at"),
    *("low_balance_threshold", "limit", "requests", "credits", "deliverable", "risky"),
    *("undeliverable", "unknown"),
}
_HEADER = re.compile(r"[\w-]+: ")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Example:
    page: str
    name: str
    language: str
    code: str
    # What the page calls that which it prints, and what that is.
    caption: str
    printed: str

    def run(self, secret: str, more: str = "") -> str:
        """As it stands, with the key where the docs say it is."""
        command = [*RUNNERS[self.language], self.code + more]
        ended = subprocess.run(
            command,
            check=False,
            env={"SVC_API_KEY": secret, "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert ended.returncode == 0, f"{self.name}: {ended.stderr}"
        return ended.stdout

    @property
    def can_run(self) -> bool:
        return shutil.which(RUNNERS[self.language][0]) is not None


def examples_of(site: Product) -> list[Example]:
    browser = PlainBrowser(site.url)
    found = []
    for page in PAGES:
        text = browser.get(f"/docs/{page.path}")
        printed = {name: (called, unescape(said)) for called, name, said in _PRINTED.findall(text)}
        found += [
            Example(page.path, name, language, unescape(code), *printed[name])
            for name, language, code in _CODE.findall(text)
        ]
    return found


def differences(example: Example, printed: str) -> list[str]:
    """What a page promises and a run did not print; what is called whole, also the reverse."""
    shown = example.printed
    if shown.startswith("{"):
        promised, got = json.loads(shown), json.loads(printed)
        more = _missing(got, promised, "") if example.caption == "The answer" else []
        return _missing(promised, got, "") + more
    if shown.startswith("HTTP/"):
        return _missing_lines(shown, printed)
    lines, wanted = (_without_counts(text.strip()) for text in (printed, shown))
    return [] if lines == wanted else [f"{lines!r} in place of {wanted!r}"]


def _missing(shown: Any, printed: Any, place: str) -> list[str]:
    """A page may show a part of an object."""
    if isinstance(shown, dict) and isinstance(printed, dict):
        lacking = [f"no {place}{name}" for name in shown if name not in printed]
        inner = [
            _missing(value, printed[name], f"{place}{name}.")
            for name, value in shown.items()
            if name in printed and (name not in _ANYTHING or isinstance(value, dict))
        ]
        return [*lacking, *(line for lines in inner for line in lines)]
    if isinstance(shown, list) and isinstance(printed, list) and len(shown) == len(printed):
        pairs = zip(shown, printed, strict=True)
        return [line for pair in pairs for line in _missing(*pair, place)]
    return [] if shown == printed else [f"{place} {printed!r} in place of {shown!r}"]


def _missing_lines(shown: str, printed: str) -> list[str]:
    """A page may leave out headers. Those it has come in this order."""
    there = iter(_without_counts(line) for line in printed.splitlines())
    wanted = [_without_counts(line) for line in shown.splitlines()]
    return [f"no {line!r} in its place" for line in wanted if line not in there]


def _without_counts(text: str) -> str:
    """The names of headers, and lines such as “Balance: 4211”."""
    lines = [
        _NUMBER.sub("0", line.strip().lower()) if _HEADER.match(line) else line.strip()
        for line in text.splitlines()
    ]
    return "\n".join(lines)
