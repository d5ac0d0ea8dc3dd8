"""The docs as Markdown and llms.txt."""

import re
from functools import cache
from html import unescape

import pytest
from django.conf import settings
from django.test import Client
from django.utils.html import strip_tags

from reference.docs.pages import GROUPS, PAGES

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@cache
def read_text(path: str) -> str:
    response = Client().get(path)
    assert response.status_code == 200
    return response.content.decode()


def without_code(markdown: str) -> str:
    return re.sub(r"^ *```.*?^ *```$|`+[^`]*`+", "", markdown, flags=re.DOTALL | re.MULTILINE)


def test_page_links_to_its_markdown() -> None:
    for page in PAGES:
        link = f'<link rel="alternate" type="text/markdown" href="/docs/{page.markdown_path}">'
        assert link in read_text(f"/docs/{page.path}")
        response = Client().get(f"/docs/{page.markdown_path}")
        assert response.headers["Content-Type"] == "text/markdown; charset=utf-8"


def test_markdown_has_each_heading_code_block_and_table_row_of_the_page() -> None:
    for page in PAGES:
        html = read_text(f"/docs/{page.path}")
        markdown = read_text(f"/docs/{page.markdown_path}")
        assert markdown.startswith(f"# {page.title}\n\n")
        main = html.partition("<main")[2].partition("</main>")[0]
        text = re.sub(r"^```.*?^```$", "", markdown, flags=re.M | re.S)
        for level in (1, 2, 3):
            headings = re.findall(rf"^{'#' * level} \S.*$", text, re.MULTILINE)
            assert len(headings) == len(re.findall(rf"<h{level}\b", main)), page.name
        assert markdown.count("\n```") == 2 * html.count("<pre"), page.name
        rows = re.findall(r"^\| (?!-).*", markdown, re.MULTILINE)
        assert len(rows) == html.count("<tr"), page.name
        assert all(len(re.findall(r"(?<!\\)\|", line)) > 2 for line in rows)


def test_markdown_has_neither_html_nor_attributes_and_only_absolute_links() -> None:
    for page in PAGES:
        markdown = read_text(f"/docs/{page.markdown_path}").replace("\r", "")
        text = without_code(markdown)
        assert not re.search(r"(?<!\\)</?[a-z]", text), page.name
        assert "&lt;" not in markdown, page.name
        targets = re.findall(r"\]\(([^)]*)\)", text)
        assert all(target.startswith((settings.BASE_URL, "mailto:")) for target in targets)
        assert not re.search(r"\{[#.:]", text)
        html = read_text(f"/docs/{page.path}")
        for block in re.findall(r"<pre[^>]*><code[^>]*>(.*?)</code>", html, re.DOTALL):
            assert f"\n{unescape(strip_tags(block))}\n```\n" in markdown


def test_llms_txt_has_the_parts_of_the_format_in_order() -> None:
    response = Client().get("/llms.txt")
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    text = response.content.decode()
    title, _, quote, _, *rest = text.splitlines()
    assert title == "# Email Validation API"
    assert quote.startswith("> ")
    headings = [line.removeprefix("## ") for line in rest if line.startswith("#")]
    assert headings == [*(group.title for group in GROUPS), "Optional"]
    lists = "\n".join(rest).partition("\n## ")[2]
    for line in lists.splitlines():
        assert not line or line.startswith(("## ", "- [")) or line in headings, line
    assert "&" not in text


def test_one_text_has_every_page_but_the_changelog() -> None:
    response = Client().get("/llms-full.txt")
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    text = response.content.decode()
    for page in PAGES:
        is_part = read_text(f"/docs/{page.markdown_path}") in text
        assert is_part is (page.name != "show-changelog"), page.title


def test_llms_txt_links_to_every_page_with_its_summary() -> None:
    text = read_text("/llms.txt")
    for page in PAGES:
        url = f"{settings.BASE_URL}/docs/{page.markdown_path}"
        assert f"\n- [{page.title}]({url}): {page.summary}\n" in text
