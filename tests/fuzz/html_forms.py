"""Parse the forms of a page as a browser does."""

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class PageForm:
    action: str
    method: str
    # Each field's initial value.
    fields: dict[str, str] = field(default_factory=dict)
    options: dict[str, list[str]] = field(default_factory=dict)


class _FormParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[PageForm] = []
        self._open: PageForm | None = None
        self._select = ""
        self._textarea = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            method = attributes.get("method", "get").lower()
            self._open = PageForm(attributes.get("action", ""), method)
            self.forms.append(self._open)
        if self._open is None:
            return
        name = attributes.get("name", "")
        if tag in {"input", "button"} and name:
            self._add_input(self._open, name, attributes)
        elif tag == "select":
            self._select = name
            self._open.fields.setdefault(name, "")
        elif tag == "option" and self._select:
            self._add_option(self._open, attributes)
        elif tag == "textarea":
            self._textarea = name
            self._open.fields[name] = ""

    def handle_data(self, data: str) -> None:
        if self._open is not None and self._textarea:
            self._open.fields[self._textarea] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None
        elif tag == "select":
            self._select = ""
        elif tag == "textarea":
            self._textarea = ""

    @staticmethod
    def _add_input(form: PageForm, name: str, attributes: dict[str, str]) -> None:
        value = attributes.get("value", "")
        if attributes.get("type") in {"radio", "checkbox", "submit"}:
            form.options.setdefault(name, []).append(value or "on")
            if "checked" not in attributes:
                form.fields.setdefault(name, "")
                return
        form.fields[name] = value

    def _add_option(self, form: PageForm, attributes: dict[str, str]) -> None:
        value = attributes.get("value", "")
        form.options.setdefault(self._select, []).append(value)
        if "selected" in attributes or not form.fields[self._select]:
            form.fields[self._select] = value


def parse_forms(page: str) -> list[PageForm]:
    parser = _FormParser()
    parser.feed(page)
    return parser.forms
