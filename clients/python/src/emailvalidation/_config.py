from __future__ import annotations

import os
import re
from typing import Optional
from urllib.parse import urlsplit

VERSION = "1.0.0"
KEY_VARIABLE, URL_VARIABLE = "SVC_API_KEY", "SVC_BASE_URL"
_KEY = re.compile(r"svc_live_[0-9A-Za-z]{38}")
_THIS_MACHINE = re.compile(r"localhost|.+\.localhost|127\.[\d.]+|::1")


class ConfigurationError(ValueError):
    """The API key or the base URL is missing, or can't be right."""


class Config:
    def __init__(self, api_key: Optional[str], base_url: Optional[str], timeout: float) -> None:
        key = api_key or os.environ.get(KEY_VARIABLE, "")
        url = (base_url or os.environ.get(URL_VARIABLE, "")).rstrip("/").removesuffix("/v1")
        if problem := _find_problem(key, url, timeout):
            raise ConfigurationError(problem)
        self.base_url = url
        self.timeout = timeout
        self.headers = {
            "Authorization": f"Bearer {key}",
            "User-Agent": f"emailvalidation-python/{VERSION}",
        }


def _find_problem(key: str, url: str, timeout: float) -> str:
    if not key:
        return f"The API key is missing. Create one under Settings, and set {KEY_VARIABLE}."
    if not _KEY.fullmatch(key):
        return (
            "This isn't an API key: keys have 47 characters and start with svc_live_. "
            "Copy it again, without quotes and spaces."
        )
    host = _find_host(url)
    if not host:
        return (
            f"The base URL is missing or isn't a URL. Set {URL_VARIABLE}, "
            "for example to https://api.example.com."
        )
    if urlsplit(url).scheme == "http" and not _THIS_MACHINE.fullmatch(host):
        return f"The base URL {url} would send the API key unencrypted. Use https://."
    return "" if timeout > 0 else "The timeout must be more than 0 seconds."


def _find_host(url: str) -> str:
    """Return the host, or nothing if this isn't a URL that the client can use."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:
        return ""
    # A password would be in error messages.
    return (parts.hostname or "") if is_usable and parts.username is None else ""
