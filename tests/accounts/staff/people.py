"""Staff of a group, and what a page says without its marks."""

from datetime import datetime
from html import unescape

import time_machine
from django.contrib.auth.models import Group
from django.test import Client

from tests.conftest import make_user, signed_in


def in_group(name: str) -> Client:
    user = make_user(f"{name.lower()}@service.example", is_staff=True)
    user.groups.add(Group.objects.get(name=name))
    return signed_in(user)


def take_from_group(name: str, permission: str) -> None:
    group = Group.objects.get(name=name)
    group.permissions.remove(*group.permissions.filter(codename=permission))


def words(html: str) -> str:
    text = "".join(piece.partition(">")[2] or " " for piece in f">{html}".split("<"))
    return " ".join(unescape(text).split())


def panel(page: str, question: str) -> str:
    """What one panel says."""
    assert page.count(f">{question}</h2>") == 1, question
    _, _, after = page.partition(f">{question}</h2>")
    return words(after.partition("</section>")[0])


def front(client: Client) -> str:
    answer = client.get("/admin/")
    assert answer.status_code == 200
    return answer.content.decode()


def at(moment: datetime) -> time_machine.travel:
    return time_machine.travel(moment, tick=False)
