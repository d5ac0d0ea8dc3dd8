"""The operator's own name and mark."""

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.emails import queue_second_factor_removed
from config.settings.brand import MAX_BYTES, brand_mark, product_name
from config.settings.environment import Environment
from runtime.models import Mail

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h8v8z"/></svg>'
NAME = "Mailcheck by Shop 24"

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


@pytest.fixture
def branded(settings: Settings) -> Settings:
    settings.PRODUCT_NAME, settings.BRAND_MARK = NAME, SVG
    settings.BRAND_MARK_URL = "/brand-mark.svg"
    return settings


@pytest.mark.parametrize(
    "page", ["/", "/accounts/login/", "/docs/", "/accounts/terms/", "/status/", "/no-such-page/"]
)
def test_page_shows_the_name_and_the_mark(branded: Settings, page: str) -> None:
    text = Client().get(page).content.decode()
    assert "Email Validation" not in text
    assert f"{NAME}</title>" in text or f"<title>{NAME}" in text or f"{NAME} docs</title>" in text
    assert f'<link rel="icon" href="{branded.BRAND_MARK_URL}"' in text
    assert f'<img class="icon" src="{branded.BRAND_MARK_URL}" alt="">' in text


@pytest.mark.parametrize("page", ["/docs/changelog.atom", "/status.atom", "/llms.txt"])
def test_feed_has_the_name(branded: Settings, page: str) -> None:
    text = Client().get(page).content.decode()
    assert NAME in text
    assert "Email Validation" not in text


def test_email_has_the_name(branded: Settings) -> None:
    queue_second_factor_removed(to="jane@shop.example", kind="Authenticator app")
    mail = Mail.objects.get()
    assert NAME in mail.html
    assert NAME in mail.text
    assert "Email Validation" not in mail.subject + mail.html + mail.text


def test_mark_is_an_image_in_which_no_script_runs(branded: Settings) -> None:
    response = Client().get(branded.BRAND_MARK_URL)
    assert response.content.decode() == SVG
    assert response.headers["Content-Type"] == "image/svg+xml; charset=utf-8"
    assert "script-src 'self'" in response.headers["Content-Security-Policy"]


def test_without_a_mark_there_is_no_page_for_it() -> None:
    assert Client().get("/brand-mark.svg").status_code == 404


@pytest.mark.parametrize("name", ["R<b>D", "a, b", 'the "best"', "x" * 41, "-"])
def test_name_that_needs_escaping_is_refused(name: str) -> None:
    env = Environment({"PRODUCT_NAME": name})
    assert product_name(env) == "Email Validation"
    assert env.problems[0].startswith("PRODUCT_NAME must be at most 40 letters")


@pytest.mark.parametrize("content", [b"GIF89a", b"\xff", SVG.encode() + b" " * MAX_BYTES, None])
def test_unusable_mark_is_refused(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "mark.svg"
    if content is not None:
        file.write_bytes(content)
    env = Environment({"BRAND_MARK_FILE": str(file)})
    brand_mark(env)
    assert env.problems == [f"BRAND_MARK_FILE must name an SVG file of at most {MAX_BYTES} bytes."]


def test_mark_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "mark.svg").write_text(SVG)
    env = Environment({"BRAND_MARK_FILE": str(tmp_path / "mark.svg")})
    assert (brand_mark(env), env.problems) == (SVG, [])
