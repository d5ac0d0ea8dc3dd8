"""The changelog for customers: a page, and an Atom feed."""

import re
from xml.etree import ElementTree

import pytest
from django.conf import settings
from django.test import Client
from django.utils.formats import date_format

from reference.docs.changelog import read_changelog
from tests.servers.product import ROOT

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

ENTRIES = read_changelog()
ATOM = {"a": "http://www.w3.org/2005/Atom"}
FEED_URL = f"{settings.BASE_URL}/docs/changelog.atom"


@pytest.fixture
def feed() -> ElementTree.Element:
    response = Client().get("/docs/changelog.atom")
    assert response.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    return ElementTree.fromstring(response.content)  # noqa: S314 (our own)


def texts(element: ElementTree.Element, path: str) -> list[str | None]:
    return [found.text for found in element.findall(path, ATOM)]


def test_entries_are_dated_newest_first_and_have_unique_ids() -> None:
    days = [entry.day for entry in ENTRIES]
    assert days == sorted(days, reverse=True)
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES) > 10
    assert {entry.area for entry in ENTRIES} == {"API", "Clients", "Dashboard", "Docs"}


def test_every_dated_heading_of_the_changelog_is_an_entry() -> None:
    headings = re.findall(r"^####.*", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings == [f"#### {e.day} {e.area}: {e.title} {{#{e.id}}}" for e in ENTRIES]


def test_entries_are_for_customers() -> None:
    """Operators read CHANGELOG.md, which names commands, settings, and files."""
    for entry in ENTRIES:
        assert not entry.title.endswith(".")
        assert entry.text.endswith(".")
        assert entry.text.count("`") % 2 == 0
        for word in ("manage.py", "make ", "PostgreSQL", "nginx", "Redis", "admin", "staff"):
            assert word not in f"{entry.title} {entry.text}"


def test_page_shows_every_entry_with_its_date_in_order() -> None:
    page = Client().get("/docs/changelog.md").content.decode()
    position = 0
    for entry in ENTRIES:
        text = f"## {entry.title}\n\n*{date_format(entry.day)} · {entry.area}*\n\n"
        position = page.find(text, position + 1)
        assert position > 0, text


def test_docs_pages_announce_the_feed() -> None:
    text = Client().get("/docs/").content.decode()
    link = 'type="application/atom+xml" title="Changelog" href="/docs/changelog.atom"'
    assert f'<link rel="alternate" {link}>' in text


def test_feed_names_its_page_and_its_last_change_and_has_every_entry_in_order(
    feed: ElementTree.Element,
) -> None:
    links = {link.get("rel"): link.get("href") for link in feed.findall("a:link", ATOM)}
    page = f"{settings.BASE_URL}/docs/changelog/"
    assert links == {"self": FEED_URL, "alternate": page}
    assert texts(feed, "a:id") == [page]
    assert texts(feed, "a:title") == ["Email Validation changelog"]
    assert texts(feed, "a:author/a:name") == ["Email Validation"]
    assert texts(feed, "a:updated") == [f"{ENTRIES[0].day}T00:00:00+00:00"]
    assert texts(feed, "a:entry/a:title") == [entry.title for entry in ENTRIES]
    for element, entry in zip(feed.findall("a:entry", ATOM), ENTRIES, strict=True):
        url = f"{page}#{entry.id}"
        assert texts(element, "a:id") == [url]
        (link,) = element.findall("a:link", ATOM)
        assert link.get("href") == url
        assert texts(element, "a:updated") == [f"{entry.day}T00:00:00+00:00"]
        (category,) = element.findall("a:category", ATOM)
        assert category.get("term") == entry.area


def test_feed_shows_code_and_links_as_html(feed: ElementTree.Element) -> None:
    summaries = {
        text: element.get("type")
        for element in feed.findall("a:entry/a:summary", ATOM)
        if (text := element.text)
    }
    assert set(summaries.values()) == {"html"}
    assert any("<code>POST /v1/validate</code>" in text for text in summaries)
    assert any(f'<a href="{settings.BASE_URL}/docs/' in text for text in summaries)
    assert not any("`" in text or "](" in text for text in summaries)
