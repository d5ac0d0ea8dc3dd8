"""Settings → Profile → Preferences."""

import pytest
from django.test import Client

from accounts.models import User
from tests.conftest import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

PREFERENCES = {"theme": ""}


@pytest.fixture
def browser(owner: User) -> Client:
    return signed_in(owner)


def save(browser: Client, **preferences: str) -> str:
    data = {**PREFERENCES, **preferences}
    response = browser.post("/accounts/profile/preferences/", data, follow=True)
    return response.content.decode()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_chosen_theme_is_an_attribute_of_every_page(browser: Client, theme: str) -> None:
    save(browser, theme=theme)
    for path in ("/", "/docs/", "/accounts/profile/", "/accounts/terms/"):
        page = browser.get(path).content.decode()
        assert f'<html lang="en" data-theme="{theme}">' in page, path
        assert f'<meta name="color-scheme" content="{theme}">' in page, path


def test_pages_follow_the_system_until_a_theme_is_chosen(browser: Client) -> None:
    for page in (browser.get("/accounts/profile/"), Client().get("/accounts/login/")):
        assert '<html lang="en">' in page.content.decode()
        assert '<meta name="color-scheme" content="light dark">' in page.content.decode()


def test_staff_pages_have_the_chosen_theme(browser: Client, owner: User) -> None:
    save(browser, theme="dark")
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    assert "theme-dark" in browser.get("/admin/").content.decode()


def test_unknown_theme_is_refused(browser: Client, owner: User) -> None:
    assert "Select a valid choice" in save(browser, theme="sepia")
    owner.refresh_from_db()
    assert owner.theme == ""
