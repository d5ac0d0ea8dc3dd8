"""Sign in as a staff group, and read the text of staff pages without markup."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from html import unescape

import time_machine
from django.contrib.auth.models import Group
from django.test import Client

from tests.conftest import make_user, signed_in


def client_in_group(name: str) -> Client:
    user = make_user(f"{name.lower()}@service.example", is_staff=True)
    user.groups.add(Group.objects.get(name=name))
    return signed_in(user)


@contextmanager
def without_permission(name: str, permission: str) -> Iterator[None]:
    """Take a permission from the group for a moment."""
    group = Group.objects.get(name=name)
    taken = list(group.permissions.filter(codename=permission))
    group.permissions.remove(*taken)
    yield
    group.permissions.add(*taken)


def visible_text(html: str) -> str:
    text = "".join(piece.partition(">")[2] or " " for piece in f">{html}".split("<"))
    return " ".join(unescape(text).split())


def panel_text(page: str, title: str) -> str:
    """Return the text of one panel."""
    assert page.count(f">{title}</h2>") == 1, title
    _, _, after = page.partition(f">{title}</h2>")
    return visible_text(after.partition("</section>")[0])


def count_work(page: str, title: str) -> str:
    """Return the number on the front page, in the strip of open work."""
    counts: list[tuple[str, str]] = re.findall(r"<strong>([^<]+)</strong> ([^<]+?)\s*</a>", page)
    return next(count for count, name in counts if name == title)


def shows_panel(page: str, title: str) -> bool:
    """Return whether the front page has the panel, or its count, if nothing is to be done."""
    panels = page.partition("Open work")[2].partition("All tables")[0]
    return re.search(rf"(</strong> |>){title}\s*</(a|h2)>", panels) is not None


def front_page(client: Client) -> str:
    response = client.get("/admin/")
    assert response.status_code == 200
    return response.content.decode()


def travel_to(moment: datetime) -> time_machine.travel:
    return time_machine.travel(moment, tick=False)
