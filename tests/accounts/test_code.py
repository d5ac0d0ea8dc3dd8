"""Syntax colors of code samples."""

import html
import re

import pytest

from accounts.templatetags.code import MAX_COLORED, highlight

SAMPLES = [
    ("json", '{"email": "<jane@shop.example>", "mx": null, "score": 0.5}'),
    ("http", "HTTP/1.1 200 OK\nX-Credits-Cost: 1\n"),
    ("http", "HTTP/1.1 200 OK\nAge: 1\n\nHTTP/1.1 200 OK\nAge: 2\n"),
    ("curl", 'curl -d \'{"email": "a&b@shop.example"}\' \\\n  $URL\n\n'),
    ("python", "import os\n\nprint(os.environ['SVC_API_KEY'])"),
    ("javascript", "const answer = await fetch(url);"),
    ("php", "<?php echo getenv('SVC_API_KEY');"),
]


@pytest.mark.parametrize(("language", "code"), SAMPLES)
def test_colors_change_no_character(language: str, code: str) -> None:
    colored = highlight(code, language)
    assert "<span class=" in colored
    assert html.unescape(re.sub(r"<[^>]*>", "", colored)) == code


def test_every_one_of_several_responses_is_colored() -> None:
    colored = highlight("HTTP/1.1 200 OK\nAge: 1\nHTTP/1.1 200 OK\nAge: 2", "http")
    assert colored.count('<span class="na">Age</span>') == 2


def test_colors_use_classes_only() -> None:
    assert "style=" not in highlight('{"a": 1}', "json")


def test_markup_in_code_is_escaped() -> None:
    assert "<script" not in highlight('"<script>"', "json")


def test_very_long_code_stays_plain() -> None:
    code = '"' + "a" * MAX_COLORED
    assert "<span" not in highlight(code, "json")
