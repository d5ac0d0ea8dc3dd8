"""Read the pages of lists."""

from django.test import Client

from lists.models import AddressList

PAGE = "/lists/"


def url(address_list: AddressList, action: str = "") -> str:
    return f"{PAGE}{address_list.public_id}/{action}"


def show(browser: Client, address_list: AddressList) -> str:
    response = browser.get(url(address_list))
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def state_of(address_list: AddressList) -> str:
    address_list.refresh_from_db()
    return address_list.state
