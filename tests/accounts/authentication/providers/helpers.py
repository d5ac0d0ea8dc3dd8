from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from accounts.models import User
from accounts.services import open_account
from tests.conftest import FIREFOX
from tests.servers.identity_provider import IdentityProvider, Person

CONNECTIONS = "/accounts/connections/"
CONFIRM = "/accounts/signup/provider/"


def browser() -> Client:
    return Client(headers=FIREFOX)


def leave(client: Client, provider_id: str, **form: str) -> str:
    """Send the button's form; return the provider's URL to which it leads."""
    response = client.post(f"/accounts/{provider_id}/login/", form)
    assert response.status_code == 302, response.content
    return str(response.headers["Location"])


def come_back(
    client: Client, provider: IdentityProvider, person: Person, at: str = "google", **form: str
) -> Any:
    """Go to the provider, consent there as this person, and return."""
    provider.person = person
    return client.get(provider.consent(leave(client, at, **form)))


def sign_up(client: Client, provider: IdentityProvider, person: Person, **options: str) -> Any:
    assert come_back(client, provider, person, **options).headers["Location"] == CONFIRM
    return client.post(CONFIRM)


def connected_user(person: Person, at: str = "google", **fields: Any) -> User:
    """Return a user without a password who has signed up at the provider."""
    user = User.objects.create_user(person.email, **fields)
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    open_account(user=user)
    connect(user, person, at)
    return user


def connect(user: User, person: Person, at: str = "google") -> SocialAccount:
    return SocialAccount.objects.create(
        user=user, provider=at, uid=person.id, extra_data={"label": person.email}
    )


def is_signed_in(client: Client) -> bool:
    return bool(client.get("/accounts/security/").status_code == 200)
