"""Run the examples from the docs pages and compare their output with the documented output."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

from django.utils.html import strip_tags

from reference.docs.pages import PAGES
from tests.clients.typescript.build import build_client
from tests.servers.browser import PlainBrowser
from tests.servers.product import ROOT, Product

RUNNERS = {
    "curl": ["bash", "-c"],
    "python": [sys.executable, "-c"],
    "typescript": ["node", "--input-type=module", "--eval"],
    "http-python": [sys.executable, "-c"],
    "http-javascript": ["node", "--input-type=module", "--eval"],
}
_CODE = re.compile(r'<code\s+id="([\w-]+)"\s+data-runs="([\w-]+)"\s*>(.*?)</code>', re.DOTALL)
_PRINTED = re.compile(
    r'<figcaption>([^<]*)</figcaption>\s*<pre[^>]*><code\s+data-printed-by="([\w-]+)"\s*>(.*?)</code>',
    re.DOTALL,
)
# Fields that differ on each run: ids, timestamps and counts.
_VARYING_FIELDS = {
    *("id", "account_id", "timestamp", "name", "display", "created_at", "request_id", "remaining"),
    "duration_ms",
    *("balance", "held", "used_this_period", "plan", "next_grant", "next_grant_at"),
    *("low_balance_threshold", "limit", "requests", "credits", "deliverable", "risky"),
    *("undeliverable", "unknown", "public_key", "secret"),
}
_HEADER = re.compile(r"[\w-]+: ")
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Example:
    base_url: str
    page: str
    name: str
    language: str
    code: str
    # The caption and text of the documented output.
    caption: str
    printed: str

    def run(self, secret: str, extra_code: str = "") -> str:
        """Run the code verbatim, with the key in the documented variable."""
        command = [*RUNNERS[self.language], self.code + extra_code]
        with tempfile.TemporaryDirectory() as folder:
            if self.language == "typescript":
                Path(folder, "node_modules").symlink_to(build_client() / "node_modules")
            process = subprocess.run(
                command,
                check=False,
                cwd=folder,
                env={
                    "PATH": os.environ["PATH"],
                    "PYTHONPATH": str(ROOT / "clients" / "python" / "src"),
                    "SVC_API_KEY": secret,
                    "SVC_BASE_URL": self.base_url,
                },
                capture_output=True,
                text=True,
                timeout=100,
            )
        assert process.returncode == 0, f"{self.name}: {process.stderr}"
        return process.stdout

    @property
    def can_run(self) -> bool:
        return shutil.which(RUNNERS[self.language][0]) is not None


def load_examples(site: Product) -> list[Example]:
    browser = PlainBrowser(site.url)
    examples = []
    for page in PAGES:
        text = browser.get(f"/docs/{page.path}")
        outputs = {name: (caption, _plain(out)) for caption, name, out in _PRINTED.findall(text)}
        examples += [
            Example(site.url, page.path, name, language, _plain(code), *outputs[name])
            for name, language, code in _CODE.findall(text)
        ]
    return examples


def _plain(code: str) -> str:
    """Return the code without the markup of its colors."""
    return unescape(strip_tags(code))


def find_differences(example: Example, printed: str) -> list[str]:
    """Return the differences between the documented and the printed output.

    Undocumented fields count only if the page shows a complete response.
    """
    shown = example.printed
    if shown.startswith("{"):
        expected, actual = json.loads(shown), json.loads(printed)
        is_complete = example.caption == "Response"
        undocumented = _missing(actual, expected, "") if is_complete else []
        return _missing(expected, actual, "") + undocumented
    if shown.startswith("HTTP/"):
        return _missing_lines(shown, printed)
    lines, wanted = (_replace_counts(text.strip()) for text in (printed, shown))
    return [] if lines == wanted else [f"{lines!r} instead of {wanted!r}"]


def _missing(shown: Any, printed: Any, path: str) -> list[str]:
    """Return the shown fields that were not printed. A page may show only some fields."""
    if isinstance(shown, dict) and isinstance(printed, dict):
        missing = [f"no {path}{name}" for name in shown if name not in printed]
        inner = [
            _missing(value, printed[name], f"{path}{name}.")
            for name, value in shown.items()
            if name in printed and (name not in _VARYING_FIELDS or isinstance(value, dict))
        ]
        return [*missing, *(line for lines in inner for line in lines)]
    if isinstance(shown, list) and isinstance(printed, list) and len(shown) == len(printed):
        pairs = zip(shown, printed, strict=True)
        return [line for pair in pairs for line in _missing(*pair, path)]
    return [] if shown == printed else [f"{path} {printed!r} instead of {shown!r}"]


def _missing_lines(shown: str, printed: str) -> list[str]:
    """Return the shown lines that were not printed in this order. A page may omit headers."""
    printed_lines = iter(_replace_counts(line) for line in printed.splitlines())
    wanted = [_replace_counts(line) for line in shown.splitlines()]
    return [f"no {line!r} at its position" for line in wanted if line not in printed_lines]


def _replace_counts(text: str) -> str:
    """Replace the numbers in headers and in lines such as “Balance: 4211”, which vary."""
    lines = [
        _NUMBER.sub("0", line.strip().lower()) if _HEADER.match(line) else line.strip()
        for line in text.splitlines()
    ]
    return "\n".join(lines)
