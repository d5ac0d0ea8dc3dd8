"""Links to the admin's pages, also as cells of panels."""

from typing import Any

from django.db.models import Model
from django.urls import reverse

from accounts.models import Account
from accounts.staff.panels import Cell, Hit, Link


def admin_url(row: Model) -> str:
    meta = row._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])


def admin_list_url(model: type[Model], query: str = "") -> str:
    meta = model._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist") + query


def account_admin_list_url(model: type[Model], account: Account) -> str:
    """Filter by account with an index, which a search wouldn't use."""
    return admin_list_url(model, f"?account__id__exact={account.pk}")


def admin_link(row: Model, text: str = "") -> Link:
    return Link(text or str(row), admin_url(row))


def account_hit(row: Any, text: str, description: str) -> Hit:
    """Return what was found by its id."""
    return Hit(admin_link(row, text), description, [account_link(row.account)], is_exact=True)


def link_cell(row: Model, text: str = "") -> Cell:
    return Cell(text or str(row), admin_url(row))


def account_link(account: Account) -> Link:
    return Link(account.name, reverse("admin:show-account", args=[account.public_id]))


def account_cell(account: Account) -> Cell:
    link = account_link(account)
    return Cell(link.text, link.url)
