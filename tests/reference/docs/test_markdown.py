"""Markdown of docs pages becomes HTML."""

import pytest
from django.utils.html import strip_tags

from reference.docs.markdown import Section, split_sections, to_html, to_plain_text


def test_text_is_split_at_headings_with_an_id() -> None:
    text = "Before.\n\n## A {#a}\n\nOne.\n\n### Part of A\n\n## `B` {#b-1}\n\nTwo.\n"
    first, sections = split_sections(text)
    assert first == "Before.\n\n"
    assert sections == [
        Section("a", "A", "\nOne.\n\n### Part of A\n\n"),
        Section("b-1", "`B`", "\nTwo.\n"),
    ]
    assert [section.html_title for section in sections] == ["A", "<code>B</code>"]
    assert [section.plain_title for section in sections] == ["A", "B"]


@pytest.mark.parametrize("title", ["1. Create an account", "- Dash", "Terms & <b>", "`a` (402)"])
def test_title_of_a_section_is_one_line_of_text(title: str) -> None:
    section = Section("a", title, "")
    assert section.plain_title == title.replace("`", "")
    assert "<p>" not in section.html_title
    assert "<li>" not in section.html_title


@pytest.mark.parametrize(
    "html", ["<script>alert(1)</script>", "<b onclick='x()'>b</b>", "<!-- -->"]
)
@pytest.mark.parametrize("markdown", ["{}", "A {} b", "- {}", "`{}`", "```text\n{}\n```"])
def test_html_is_shown_as_text(html: str, markdown: str) -> None:
    converted = to_html(markdown.format(html))
    assert "<script" not in converted
    assert "<b" not in converted
    assert "<!--" not in converted
    assert html in to_plain_text(markdown.format(html))


def test_cells_of_a_table_name_their_column() -> None:
    html = to_html("| Word | `Score` |\n| --- | ---: |\n| a | 5 |\n")
    assert '<table class="table-stacks">' in html
    assert '<th scope="col">Word</th>' in html
    assert '<th class="text-number" scope="col"><code>Score</code></th>' in html
    assert '<td data-label="Word">a</td>' in html
    assert '<td class="text-number" data-label="Score">5</td>' in html
    assert "style=" not in html


def test_lists_of_fields_and_of_operations_have_classes() -> None:
    fields = to_html("`a` *string*\n:   One.\n\n`b` *string*\n:   Two.\n")
    assert fields.count('<dl class="docs-fields">') == fields.count("<dl") == 1
    operations = to_html("- [One](/docs/) **GET**{.badge} `/v1/me`\n")
    assert operations.startswith('<ul class="docs-operations">')
    assert to_html("`a`\n:   One.\n").startswith("<dl>")
    assert to_html("- **One**\n").startswith("<ul>")


def test_badge_of_a_verdict_has_its_icon() -> None:
    html = to_html("**risky**{.badge .badge-risky} **GET**{.badge}")
    assert 'icons.svg#triangle-alert"></use></svg> risky</strong>' in html
    assert '<strong class="badge">GET</strong>' in html


def test_code_block_has_a_caption_and_can_be_hidden() -> None:
    html = to_html('Text.\n\n```json title="Result of `a` · 200" details="More"\n{"a": 1}\n```\n')
    assert "".join(strip_tags(html).split()) == 'Text.MoreResultofa200{"a":1}'
    assert html.count("<figcaption><span>") == html.count("<details>") == html.count("<pre") == 1
    assert "<code>a</code>" in html


def test_code_is_not_read_as_markdown() -> None:
    code = "## Not a heading {#a}\n\n\n| a | b |\n*c* <d>"
    assert code in to_html(f"```text\n{code}\n```\n").replace("&lt;", "<").replace("&gt;", ">")
