"""The docs pages: navigation, size, safety, and agreement with the code."""

import re
from decimal import Decimal
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from django.template import Context, Template
from django.test import Client
from django.urls import resolve
from django.utils.html import strip_tags
from pytest_django import Settings

from apikeys.errors import REFUSALS
from apikeys.rest import reference
from apikeys.rest.schema import COMMON_ERRORS
from credits.models import Pack, Plan
from engine.verdicts.reasons import VERDICT_BY_REASON
from reference.docs.examples import LANGUAGES, IncompleteExample, load_snippets
from reference.docs.page_context import CodePath
from reference.docs.pages import PAGES, DocsPage, neighbors
from tests.support.api_client import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

MAX_PAGE_SIZE = 150_000
# Matches only code.
CODE = re.compile(r"\bcurl |^import |\bfetch\(|<\?php|\brequire\(", re.MULTILINE)


def page_text(name: str) -> str:
    page = next(page for page in PAGES if page.name == name)
    return Client().get(f"/docs/{page.path}").content.decode()


@cache
def stored_text(page: DocsPage) -> str:
    """Return a page that was rendered once for all tests that only look at its structure."""
    return page_text(page.name)


def test_page_links_to_all_others_and_to_its_neighbors_and_marks_itself() -> None:
    for page in PAGES:
        text = stored_text(page)
        for other in PAGES:
            assert f'href="/docs/{other.path}"' in text
        current = re.findall(r'href="(/docs/[^"]*)" aria-current="page"', text)
        assert current == [f"/docs/{page.path}"] * 2
        assert f"<h1>{page.title}</h1>" in text
        assert page.summary in unescape(text)
        for word, neighbor in zip(("prev", "next"), neighbors(page), strict=True):
            assert neighbor is None or f'rel="{word}" href="/docs/{neighbor.path}"' in text
            assert neighbor is not None or f'rel="{word}"' not in text


def test_each_section_of_a_page_is_in_its_contents() -> None:
    for page in PAGES:
        text = stored_text(page)
        sections = re.findall(r'<section id="([\w.-]+)"', text)
        listed = re.findall(r'<li><a href="#([\w.-]+)">', text)
        # Both navigations and the right column list them.
        assert listed == sections * 3, page.name
        ids = re.findall(r'\bid="([^"]*)"', text)
        assert len(ids) == len(set(ids)), page.name


def test_page_is_small_and_has_nothing_of_other_origins_no_form_and_no_key() -> None:
    for page in PAGES:
        text = stored_text(page)
        assert len(text) < MAX_PAGE_SIZE, page.name
        assert all(path.startswith("/static/") for path in re.findall(r'src="([^"]*)"', text))
        links = re.findall(r'<link rel="(?!canonical)[^>]*href="([^"]*)"', text)
        assert all(path.startswith("/") for path in links)
        text, searches = re.subn(
            r'<search class="docs-search">.*?</search>', "", text, flags=re.DOTALL
        )
        assert searches == 1, page.name
        assert not re.search(r"<input|<textarea|<select|<form|contenteditable", text), page.name
        assert not re.search(r"svc_live_\w{5,}", text), page.name
        assert not re.search(r"try it out", text, re.IGNORECASE)


def test_every_code_sample_is_run_by_a_test() -> None:
    """tests/journeys/test_docs_examples.py runs each block that is marked with data-runs."""
    names = {language.name for language in LANGUAGES}
    for page in PAGES:
        blocks = re.findall(r"<pre[^>]*><code([^>]*)>(.*?)</code>", stored_text(page), re.DOTALL)
        for attributes, colored in blocks:
            code = strip_tags(colored)
            runs = re.search(r'data-runs="([\w-]+)"', attributes)
            assert (runs[1] in names) if runs else not CODE.search(unescape(code)), code


def test_links_to_our_own_pages_and_their_sections_work() -> None:
    for page in PAGES:
        for path in re.findall(r'href="(/[^"#?]*)', stored_text(page)):
            assert path.startswith("/static/") or resolve(path)
        for path, section in re.findall(r'href="/docs/([\w/-]*)#([\w.-]+)"', stored_text(page)):
            other = next(candidate for candidate in PAGES if candidate.path == path)
            assert f'id="{section}"' in stored_text(other), f"/docs/{path}#{section}"


def test_docs_state_all_rules_about_api_keys() -> None:
    page = " ".join(page_text("show-authentication").split())
    for words in (
        *("server-side code only", "client-side code", "public repositories"),
        *("frontend bundles", "environment variables", "do not hard-code", "shown once"),
        *("Settings → API Keys → Create Key", "SVC_API_KEY", "Authorization: Bearer"),
        *("only a hash", "very next request", "47 characters"),
    ):
        assert words in page
    for code, refusal in REFUSALS.items():
        assert (f"/docs/errors/#{code}" in page) == (refusal.status in (401, 403))


def test_sandbox_page_lists_every_word_with_its_result(caller: ApiClient) -> None:
    page = page_text("show-sandbox")
    for word in [*VERDICT_BY_REASON, *set(VERDICT_BY_REASON.values())]:
        row = re.search(rf"<tr>\s*<td[^>]*><code>{word}</code>(.*?)</tr>", page, re.DOTALL)
        assert row
        result = caller.validate(f"{word}@sandbox.test").json()
        score = "null" if result["score"] is None else result["score"]
        for value in (result["verdict"], score, "yes" if result["accept_for_signup"] else "no"):
            assert f">{value}<" in row[1] or f">{value}," in row[1]
    for code, refusal in REFUSALS.items():
        pattern = rf"<code>{code}</code></a></td>\s*<td[^>]*>{refusal.status}</td>"
        assert re.search(pattern, page)


def test_prices_match_what_staff_and_operators_set(settings: Settings) -> None:
    settings.TAX_RATE = Decimal("0.081")
    Plan.objects.filter(code="starter").update(price_cents=12_345)
    Pack.objects.filter(credits=1_000).update(is_offered=False, requests_per_minute=4_567)
    page = page_text("show-credits")
    assert "123.45" in page
    assert "4,567" not in page
    assert "8.1% tax is added to these prices." in page


@pytest.mark.parametrize("file", ["code.py", "printed.txt"])
def test_example_without_code_or_output_is_refused(
    settings: Settings, tmp_path: Path, file: str
) -> None:
    folder = tmp_path / "docs" / "examples" / "half"
    folder.mkdir(parents=True)
    (folder / file).write_text("print(1)")
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [tmp_path]}]
    with pytest.raises(IncompleteExample):
        load_snippets("half", {})


def test_reference_shows_requests_with_their_errors() -> None:
    page = page_text("show-validation-operations")
    pages = page + page_text("show-account-operations")
    for name in ("validate", "balance", "usage", "me"):
        for language in ("python", "typescript", "curl"):
            assert f'id="{name}-{language}-panel"' in pages
    validate = page[page.index('<section id="validate"') : page.index('<section id="show-result"')]
    assert '<a href="/docs/errors/">errors of every operation</a>' in validate
    for code, refusal in REFUSALS.items():
        link = f'{refusal.status} <a href="/docs/errors/#{code}"><code>{code}</code></a>'
        assert (link in validate) is (code not in COMMON_ERRORS)


def test_reference_links_every_operation_to_its_section() -> None:
    page = page_text("show-reference")
    for operation in reference.operations():
        (path,) = re.findall(rf'href="/docs/(api/\w+/)#{operation.id}"', page)
        listed = next(page for page in PAGES if page.path == path)
        assert f'<section id="{operation.id}"' in stored_text(listed)


def test_errors_page_shows_the_response_of_each_error() -> None:
    page = page_text("show-errors")
    blocks = [strip_tags(block) for block in re.findall(r"<pre.*?</pre>", page, re.DOTALL)]
    for code, refusal in REFUSALS.items():
        assert any(
            f'"code": "{code}"' in unescape(block)
            and f'"type": "{refusal.type}"' in unescape(block)
            for block in blocks
        )


def test_page_names_a_constant_by_its_path_in_the_code() -> None:
    template = Template("{{ credits.usage_alerts.MIN_DAYS }}")
    assert template.render(Context({"credits": CodePath("credits")})).isdigit()


@pytest.mark.parametrize("path", ["usage_alerts.RENAMED", "renamed.MIN_DAYS"])
def test_page_with_a_constant_that_is_gone_fails(path: str) -> None:
    template = Template(f"{{{{ credits.{path} }}}}")
    with pytest.raises(ImportError):
        template.render(Context({"credits": CodePath("credits")}))
