"""Template tags: syntax colors of code samples, and paragraphs of emails."""

import html
import re

import pytest
from django.template import engines

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


def test_each_response_is_colored_with_classes_and_escaped() -> None:
    colored = highlight("HTTP/1.1 200 OK\nAge: 1\nHTTP/1.1 200 OK\nAge: 2\n\n<script>", "http")
    assert colored.count('<span class="na">Age</span>') == 2
    assert "style=" not in colored
    assert "<script" not in colored


def test_very_long_code_stays_plain() -> None:
    code = '"' + "a" * MAX_COLORED
    assert "<span" not in highlight(code, "json")


JOINED = (
    "{% load emails %}{% filter one_line %}\n{{ name }} joined\n  the account.\n{% endfilter %}"
)


def test_lines_of_a_paragraph_become_one_line() -> None:
    template = engines["django"].from_string(
        "{% autoescape off %}" + JOINED + "{% endautoescape %}"
    )
    assert template.render({"name": "Jane & Co"}) == "Jane & Co joined the account."


def test_names_are_escaped_outside_of_emails() -> None:
    assert engines["django"].from_string(JOINED).render({"name": "<b>"}) == (
        "&lt;b&gt; joined the account."
    )
