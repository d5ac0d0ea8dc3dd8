"""Convert the HTML of docs pages to Markdown. Pure.

It converts the elements that our own pages use. Of other elements it keeps the contents, and it
leaves out what is only for browsers, such as buttons and icons.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin

_VOID = {"br", "hr", "img", "input", "link", "meta"}
_DROPPED = {"button", "dialog", "form", "img", "input", "nav", "script", "style", "svg", "template"}
_CONTAINERS = {"article", "aside", "blockquote", "details", "div", "figure", "main", "section"}
# An underscore inside a word has no meaning.
_SPECIAL = re.compile(r"([\\`*\[\]<]|(?<!\w)_|_(?!\w))")
# What begins a list, heading or quote at the start of a paragraph.
_MARKER = re.compile(r"^(\d*)([-+#>.)]+)(?=\s)")
_LANGUAGES = {"curl": "sh"}


@dataclass
class _Element:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list["_Element | str"] = field(default_factory=list)

    def find_all(self, *tags: str) -> list["_Element"]:
        """Return the outermost elements with one of the tags."""
        found = []
        for child in self.children:
            if isinstance(child, _Element):
                found += [child] if child.tag in tags else child.find_all(*tags)
        return found

    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)


class _TreeBuilder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open_elements = [_Element("")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = _Element(tag, {name: value or "" for name, value in attrs})
        self.open_elements[-1].children.append(element)
        if tag not in _VOID:
            self.open_elements.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag in [element.tag for element in self.open_elements[1:]]:
            while self.open_elements.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.open_elements[-1].children.append(data)


def html_to_markdown(html: str, page_url: str) -> str:
    """Return Markdown in which links are absolute."""
    builder = _TreeBuilder()
    builder.feed(html)
    builder.close()
    blocks = _Converter(page_url).blocks(builder.open_elements[0].children)
    return "\n\n".join(blocks) + "\n"


class _Converter:
    def __init__(self, page_url: str) -> None:
        self.page_url = page_url

    def blocks(self, children: Iterable[_Element | str]) -> list[str]:
        """Return paragraphs, lists, tables, and so on. Text between them becomes a paragraph."""
        found: list[str] = []
        run: list[_Element | str] = []
        for child in children:
            converted = self._block(child) if isinstance(child, _Element) else None
            if converted is None:
                run.append(child)
            else:
                found += [self._paragraph(run), *converted]
                run = []
        return [block for block in [*found, self._paragraph(run)] if block]

    def _block(self, element: _Element) -> list[str] | None:
        """Return the blocks of an element, or None if it's part of a paragraph."""
        blocks: list[str] | None = None
        match element.tag:
            case tag if tag in _CONTAINERS:
                blocks = self.blocks(element.children)
            case "p" | "summary":
                blocks = [self._paragraph(element.children)]
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6" as tag:
                title = _Converter("").inline(element.children).strip()
                blocks = [f"{'#' * int(tag[1])} {title}"]
            case "figcaption":
                blocks = [self._caption(element)]
            case "ul" | "ol":
                blocks = [self._list(element)]
            case "dl":
                blocks = [self._definitions(element)]
            case "table":
                blocks = [self._table(element)]
            case "pre":
                blocks = [_code_block(element)]
        return blocks

    def _caption(self, element: _Element) -> str:
        parts = [self.inline([child]).strip() for child in element.children]
        return " · ".join(part for part in parts if part)

    def _paragraph(self, children: Iterable[_Element | str]) -> str:
        return _MARKER.sub(r"\1\\\2", self.inline(children).strip())

    def _list(self, element: _Element) -> str:
        lines = []
        for number, item in enumerate(element.find_all("li"), 1):
            marker = f"{number}. " if element.tag == "ol" else "- "
            lines.append(_indent(marker, self.blocks(item.children)))
        return "\n".join(lines)

    def _definitions(self, element: _Element) -> str:
        lines: list[str] = []
        term = ""
        for child in element.find_all("dt", "dd"):
            if child.tag == "dt":
                term = self.inline(child.children).strip()
            else:
                first, *rest = self.blocks(child.children) or [""]
                lines.append(_indent("- ", [f"{term}: {first}", *rest]))
        return "\n".join(lines)

    def _table(self, element: _Element) -> str:
        rows = [
            [self._cell(cell) for cell in row.find_all("th", "td")]
            for row in element.find_all("tr")
        ]
        head, *body = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([head, "|" + "---|" * len(rows[0]), *body])

    def _cell(self, element: _Element) -> str:
        return " ".join(self.blocks(element.children)).replace("|", r"\|").replace("\n", " ")

    def inline(self, children: Iterable[_Element | str]) -> str:
        text = "".join(
            _SPECIAL.sub(r"\\\1", child) if isinstance(child, str) else self._inline_element(child)
            for child in children
        )
        return re.sub(r"[ \n\t]+", " ", text)

    def _inline_element(self, element: _Element) -> str:
        if element.tag in _DROPPED:
            return ""
        if element.tag == "code":
            return _code_span(element.text())
        if element.tag == "br":
            return " "
        text = self.inline(element.children)
        if element.tag == "a" and self.page_url:
            return f"[{text.strip()}]({urljoin(self.page_url, element.attributes['href'])})"
        mark = {"strong": "**", "b": "**", "em": "*", "i": "*"}.get(element.tag, "")
        return f"{mark}{text.strip()}{mark}" if mark and text.strip() else text


def _indent(marker: str, blocks: list[str]) -> str:
    text = "\n\n".join(blocks).replace("\n", "\n" + " " * len(marker))
    return marker + re.sub(r"\n +\n", "\n\n", text)


def _code_span(text: str) -> str:
    marks = "`" * (_longest_run_of_backticks(text) + 1)
    space = " " if "`" in text else ""
    return f"{marks}{space}{text}{space}{marks}"


def _code_block(element: _Element) -> str:
    code = element.find_all("code")
    attributes = code[0].attributes if code else {}
    name = attributes.get("data-runs") or attributes.get("data-language", "")
    text = element.text().strip("\n")
    if not name and text.startswith("{"):
        name = "json"
    fence = "`" * max(3, _longest_run_of_backticks(text) + 1)
    return f"{fence}{_LANGUAGES.get(name, name)}\n{text}\n{fence}"


def _longest_run_of_backticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
