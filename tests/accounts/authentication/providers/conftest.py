from collections.abc import Iterator

import pytest
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from allauth.socialaccount.providers.google.views import GoogleOAuth2Adapter

from tests.servers.identity_provider import IdentityProvider, identity_provider


@pytest.fixture(scope="session")
def running() -> Iterator[IdentityProvider]:
    with identity_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: IdentityProvider, monkeypatch: pytest.MonkeyPatch) -> IdentityProvider:
    """Google and GitHub, to whose addresses allauth sends its requests."""
    url = running.url
    for adapter in (GoogleOAuth2Adapter, GitHubOAuth2Adapter):
        monkeypatch.setattr(adapter, "authorize_url", f"{url}/login/oauth/authorize")
        monkeypatch.setattr(adapter, "access_token_url", f"{url}/login/oauth/access_token")
    monkeypatch.setattr(GitHubOAuth2Adapter, "profile_url", f"{url}/api/v3/user")
    monkeypatch.setattr(GitHubOAuth2Adapter, "emails_url", f"{url}/api/v3/user/emails")
    running.is_down = False
    return running
