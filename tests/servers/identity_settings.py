"""The product's settings with Google and GitHub at a server on loopback, IDENTITY_PROVIDER."""

import os

from config.settings import *  # noqa: F403

_URL = os.environ["IDENTITY_PROVIDER"]
SOCIALACCOUNT_PROVIDERS["google"] |= {  # noqa: F405
    "AUTHORIZE_URL": f"{_URL}/google/authorize",
    "ACCESS_TOKEN_URL": f"{_URL}/google/token",
}
SOCIALACCOUNT_PROVIDERS["github"]["GITHUB_URL"] = _URL  # noqa: F405
