"""The validator for Django's forms."""

import logging

import pytest
from django import forms
from django.db.migrations.writer import MigrationWriter
from emailvalidation.django import SignUpEmailValidator, validate_sign_up_email
from pytest_django import Settings

from tests.servers.keys import make_key
from tests.servers.product import Product

pytestmark = pytest.mark.process


class SignUpForm(forms.Form):
    email = forms.EmailField(validators=[validate_sign_up_email])


@pytest.fixture(scope="module")
def key(site: Product) -> str:
    return make_key(site, "django@clients.example")


@pytest.fixture
def form_settings(site: Product, key: str, settings: Settings) -> Settings:
    settings.EMAIL_VALIDATION = {"API_KEY": key, "BASE_URL": site.url}
    return settings


@pytest.mark.parametrize(
    ("word", "errors"),
    [
        ("deliverable", []),
        ("possible_typo", []),
        ("unknown", []),
        ("insufficient_credits", []),
        ("disposable", ["Enter an email address that can receive mail."]),
    ],
)
@pytest.mark.usefixtures("form_settings")
def test_form_refuses_what_a_sign_up_should(word: str, errors: list[str]) -> None:
    form = SignUpForm({"email": f"{word}@sandbox.test"})
    assert form.is_valid() is not bool(errors)
    assert form.errors.get("email", []) == errors


def test_form_accepts_everything_while_the_api_is_away_and_logs_no_address(
    form_settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    form_settings.EMAIL_VALIDATION |= {"BASE_URL": "http://127.0.0.1:1", "TIMEOUT": 0.5}
    assert SignUpForm({"email": "jane@shop.example"}).is_valid()
    form_settings.EMAIL_VALIDATION["API_KEY"] = "wrong"
    assert SignUpForm({"email": "jane@shop.example"}).is_valid()
    assert [record.levelno for record in caplog.records] == [logging.WARNING, logging.ERROR]
    assert "jane" not in caplog.text


def test_migrations_can_name_the_validator() -> None:
    text, imports = MigrationWriter.serialize(SignUpEmailValidator())
    assert text == "emailvalidation.django.SignUpEmailValidator()"
    assert imports == {"import emailvalidation.django"}
