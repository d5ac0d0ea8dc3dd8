"""The forms of a page, as a browser knows them."""

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class PageForm:
    action: str
    method: str
    # What stands in each field when the page is opened.
    fields: dict[str, str] = field(default_factory=dict)
    options: dict[str, list[str]] = field(default_factory=dict)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[PageForm] = []
        self._open: PageForm | None = None
        self._select = ""
        self._textarea = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            method = given.get("method", "get").lower()
            self._open = PageForm(given.get("action", ""), method)
            self.forms.append(self._open)
        if self._open is None:
            return
        name = given.get("name", "")
        if tag in {"input", "button"} and name:
            self._note_input(self._open, name, given)
        elif tag == "select":
            self._select = name
            self._open.fields.setdefault(name, "")
        elif tag == "option" and self._select:
            self._note_option(self._open, given)
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
    def _note_input(form: PageForm, name: str, given: dict[str, str]) -> None:
        value = given.get("value", "")
        if given.get("type") in {"radio", "checkbox", "submit"}:
            form.options.setdefault(name, []).append(value or "on")
            if "checked" not in given:
                form.fields.setdefault(name, "")
                return
        form.fields[name] = value

    def _note_option(self, form: PageForm, given: dict[str, str]) -> None:
        value = given.get("value", "")
        form.options.setdefault(self._select, []).append(value)
        if "selected" in given or not form.fields[self._select]:
            form.fields[self._select] = value


def forms_of(page: str) -> list[PageForm]:
    reader = _Reader()
    reader.feed(page)
    return reader.forms
