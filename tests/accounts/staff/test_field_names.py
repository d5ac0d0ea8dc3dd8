"""The admin's names of columns and fields."""

import pytest
from django.contrib import admin

from accounts.models import User
from accounts.staff.field_names import name_field
from config.urls import urlpatterns
from credits.models import Plan
from validation.models import Feedback

pytestmark = pytest.mark.anywhere


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("created at", "created"),
        ("due on", "due"),
        ("at", "time"),
        ("public id", "ID"),
        ("request id", "request ID"),
        ("buyer tax id", "buyer tax ID"),
        ("last used ip", "last used from"),
        ("is confirmed", "confirmed"),
        ("paid", "paid"),
        ("description", "description"),
    ],
)
def test_name_is_what_a_person_would_say(column: str, name: str) -> None:
    assert name_field(column) == name


def test_every_registered_model_is_named() -> None:
    assert urlpatterns
    for model in admin.site._registry:
        names = [str(field.verbose_name) for field in model._meta.fields]
        assert not [name for name in names if name.endswith((" at", " id", " ip"))], model


def test_explicit_names_stay() -> None:
    assert urlpatterns
    assert Plan._meta.get_field("price_cents").verbose_name == "price per month, cents, net"
    assert User._meta.get_field("last_login").verbose_name == "last login"
    assert Feedback._meta.get_field("at").verbose_name == "time"
