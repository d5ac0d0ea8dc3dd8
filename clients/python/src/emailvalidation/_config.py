from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Optional
from urllib.parse import urlsplit

VERSION = "1.0.0"
KEY_VARIABLE, URL_VARIABLE = "SVC_API_KEY", "SVC_BASE_URL"
_KEY = re.compile(r"svc_live_[0-9A-Za-z]{38}")


class ConfigurationError(ValueError):
    """The API key or the base URL is missing, or can't be right."""


@dataclass(frozen=True)
class Config:
    base_url: str
    api_key: str = field(repr=False)
    timeout: float

    @classmethod
    def load(cls, api_key: Optional[str], base_url: Optional[str], timeout: float) -> Config:
        key = api_key or os.environ.get(KEY_VARIABLE, "")
        url = (base_url or os.environ.get(URL_VARIABLE, "")).rstrip("/").removesuffix("/v1")
        if not key:
            raise ConfigurationError(
                f"The API key is missing. Create one under Settings, and set {KEY_VARIABLE}."
            )
        if not _KEY.fullmatch(key):
            raise ConfigurationError(
                "This isn't an API key: keys have 47 characters and start with svc_live_. "
                "Copy it again, without quotes and spaces."
            )
        host = _find_host(url)
        if not host:
            raise ConfigurationError(
                f"The base URL is missing or isn't a URL. Set {URL_VARIABLE}, "
                "for example to https://api.example.com."
            )
        if urlsplit(url).scheme == "http" and not _is_this_machine(host):
            raise ConfigurationError(
                f"The base URL {url} would send the API key unencrypted. Use https://."
            )
        if not timeout > 0:
            raise ConfigurationError("The timeout must be more than 0 seconds.")
        return cls(url, key, timeout)

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {self.api_key}",
            "User-Agent": f"emailvalidation-python/{VERSION}",
        }


def _find_host(url: str) -> str:
    """Return the host, or nothing if this isn't a URL that the client can use."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:
        return ""
    # A password would be in error messages.
    return (parts.hostname or "") if is_usable and parts.username is None else ""


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return False
