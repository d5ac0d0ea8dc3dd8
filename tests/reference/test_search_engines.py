"""robots.txt and sitemap.xml list the public pages."""

import re
from urllib.robotparser import RobotFileParser
from xml.etree import ElementTree

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, User
from reference.docs.pages import PAGES
from tests.support.pages import all_pages, populate_account

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

BASE_URL = "https://validation.example"
TRUST = {"/domains/", "/status/", "/security/"}
LEGAL = {"/accounts/terms/", "/accounts/privacy/", "/accounts/data-processing/"}


@pytest.fixture(autouse=True)
def _base_url(settings: Settings) -> None:
    settings.BASE_URL = BASE_URL


@pytest.fixture
def robots() -> RobotFileParser:
    parser = RobotFileParser()
    parser.parse(Client().get("/robots.txt").content.decode().splitlines())
    return parser


def sitemap_paths() -> list[str]:
    tree = ElementTree.fromstring(Client().get("/sitemap.xml").content)  # noqa: S314
    urls = [element.text or "" for element in tree.iter() if element.tag.endswith("loc")]
    assert all(url.startswith(f"{BASE_URL}/") for url in urls)
    return [url.removeprefix(BASE_URL) for url in urls]


def test_sitemap_lists_landing_docs_legal_and_trust_pages() -> None:
    docs = {f"/docs/{page.path}" for page in PAGES}
    assert set(sitemap_paths()) == {"/", *docs, *LEGAL, *TRUST}


def test_every_page_in_the_sitemap_opens_and_may_be_crawled(robots: RobotFileParser) -> None:
    for path in sitemap_paths():
        assert Client().get(path).status_code == 200, path
        assert robots.can_fetch("AnyBot", path), path
    assert robots.site_maps() == [f"{BASE_URL}/sitemap.xml"]


def test_robots_keep_out_of_every_page_that_needs_an_account(
    robots: RobotFileParser, owner: User, account: Account
) -> None:
    values = populate_account(owner, account)
    crawled = {
        path
        for page in all_pages().values()
        if robots.can_fetch("AnyBot", path := page.path(values))
    }
    others = {path for path in crawled if not path.startswith("/docs/")} - LEGAL - TRUST
    assert others == {
        "/",
        # Begins like a public page, and redirects visitors to the sign-in page.
        "/accounts/terms/agree/",
        # Their pages say noindex.
        *("/domains/shop.example", "/domains/shop.example.json", "/status.json", "/status.atom"),
        *("/v1", "/favicon.ico", "/brand-mark.svg", "/llms.txt", "/llms-full.txt", "/robots.txt"),
        *("/sitemap.xml", "/.well-known/security.txt"),
    }


def test_public_pages_describe_themselves_for_search_engines_and_link_previews() -> None:
    for path in ("/", "/docs/", "/docs/verdicts/", *TRUST):
        page = Client().get(path).content.decode()
        assert f'<link rel="canonical" href="{BASE_URL}{path}">' in page
        assert f'<meta property="og:url" content="{BASE_URL}{path}">' in page
        for name in ("og:title", "og:description"):
            assert re.search(rf'<meta property="{name}" content="[^"]{{10,200}}">', page), name
        assert len(re.findall('<meta name="description" content="[^"]{20,160}">', page)) == 1
        image = re.search(rf'<meta property="og:image" content="{BASE_URL}(/static/[^"]*)">', page)
        assert image
