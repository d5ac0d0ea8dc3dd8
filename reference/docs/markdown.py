"""Convert the Markdown of docs pages to HTML.

A section has an id: `## Title {#id}`. Code blocks become colored figures, and an example's become
tabs. HTML in the Markdown is shown as text.
"""

import re
from functools import lru_cache
from html import unescape
from itertools import groupby
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement

import markdown
from django.conf import settings
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils.html import strip_tags
from django.utils.safestring import SafeString, mark_safe
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

from accounts.templatetags.pages import ICONS
from reference.docs.examples import LANGUAGE_BY_LABEL, Snippet
from validation.templatetags.results import verdict_icon

_SECTION = re.compile(r"^## (.+) \{#([\w.-]+)\}\n", re.MULTILINE)
_CODE_BLOCK = re.compile(r"^```(\w+) *(.*)\n((?s:.*?))\n```$", re.MULTILINE)
_CODE_BLOCKS = re.compile(r"((?:^```\w(?s:.*?)\n```\n\s*)+)", re.MULTILINE)
_ATTRIBUTES = re.compile(r" ?\{[#.][\w. -]+\}")
_OPTION = re.compile(r'(\w+)="([^"]*)"')


class Section(NamedTuple):
    id: str
    title: str
    text: str

    @property
    def html_title(self) -> SafeString:
        html = to_html(f"# {self.title}")
        return mark_safe(html.removeprefix("<h1>").removesuffix("</h1>"))  # noqa: S308

    @property
    def plain_title(self) -> str:
        return unescape(strip_tags(self.html_title))

    @property
    def html(self) -> SafeString:
        return to_html(self.text)

    @property
    def prose(self) -> SafeString:
        return to_html("".join(_CODE_BLOCKS.split(self.text)[::2]))

    @property
    def samples(self) -> SafeString:
        return to_html("".join(_CODE_BLOCKS.split(self.text)[1::2]))


def split_sections(text: str) -> tuple[str, list[Section]]:
    """Return the text before the first section, and all sections."""
    first, *parts = _SECTION.split(text)
    return first, [
        Section(*part) for part in zip(parts[1::3], parts[::3], parts[2::3], strict=True)
    ]


def remove_attributes(text: str) -> str:
    return _ATTRIBUTES.sub("", text)


def add_base_url(text: str) -> str:
    return text.replace("](/", f"]({settings.BASE_URL}/")


def remove_code_blocks(text: str) -> str:
    return _CODE_BLOCKS.sub("", text)


def to_plain_text(text: str) -> str:
    return " ".join(unescape(strip_tags(to_html(text))).split())


@lru_cache(maxsize=1024)
def to_html(text: str) -> SafeString:
    parts = _CODE_BLOCKS.split(text)
    extensions = ["attr_list", "def_list", "tables", _DocsExtension()]
    html = (
        _figures(part) if index % 2 else markdown.markdown(part, extensions=extensions)
        for index, part in enumerate(parts)
    )
    return mark_safe("".join(html))  # noqa: S308


class _DocsExtension(Extension):
    def extendMarkdown(self, md: markdown.Markdown) -> None:  # noqa: N802
        md.preprocessors.deregister("html_block")
        md.inlinePatterns.deregister("html")
        md.treeprocessors.register(_Classes(md), "docs-classes", 5)


class _Classes(Treeprocessor):
    def run(self, root: Element) -> None:
        for fields in root.iterfind(".//dt/em/../.."):
            fields.set("class", "docs-fields")
        for operations in root.iterfind(".//li/strong[@class='badge']/../.."):
            operations.set("class", "docs-operations")
        for badge in root.iterfind(".//strong[@class]"):
            verdict = badge.get("class", "").partition("badge-")[2]
            if verdict:
                icon = Element("svg", {"class": "icon", "aria-hidden": "true"})
                SubElement(icon, "use", {"href": f"{static(ICONS)}#{verdict_icon(verdict)}"})
                icon.tail, badge.text = f" {badge.text}", ""
                badge.insert(0, icon)
        for table in root.iter("table"):
            table.set("class", "table-stacks")
            headings = list(table.iter("th"))
            for row in table.iter("tr"):
                for heading, cell in zip(headings, row, strict=True):
                    if cell.attrib.pop("style", ""):
                        cell.set("class", "text-number")
                    # On a phone, cells are stacked, and each names its column.
                    cell.set("data-label", "".join(heading.itertext()))
            for heading in headings:
                heading.attrib.pop("data-label")
                heading.set("scope", "col")


class _CodeBlock(NamedTuple):
    language: str
    # `title`: the caption, with the part after " · " on the right. `details`: the summary of a
    # hidden block. `example`: the example's name. Its blocks alternate between code and output.
    options: dict[str, str]
    code: str

    @property
    def example(self) -> str:
        return self.options.get("example", "")

    @property
    def titles(self) -> list[str]:
        return self.options["title"].split(" · ") if "title" in self.options else []


def _figures(text: str) -> str:
    blocks = [
        _CodeBlock(language, dict(_OPTION.findall(options)), code)
        for language, options, code in _CODE_BLOCK.findall(text)
    ]
    html = []
    for name, group in groupby(blocks, key=lambda block: block.example):
        if not name:
            html += [
                render_to_string("docs/fragments/code_block.html", {"block": b}) for b in group
            ]
            continue
        example = list(group)
        snippets = [
            Snippet(
                LANGUAGE_BY_LABEL[code.titles[0]],
                code.titles[1],
                code.code,
                output.titles[0],
                output.code,
            )
            for code, output in zip(example[::2], example[1::2], strict=True)
        ]
        context = {"name": name, "snippets": snippets, "is_tabbed": len(snippets) > 1}
        html.append(render_to_string("docs/fragments/example.html", context))
    return "".join(html)
