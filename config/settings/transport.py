from urllib.parse import urlsplit


def transport_settings(
    base_url: str, required: bool, *, is_behind_proxy: bool
) -> dict[str, object]:
    return {
        "SECURE_SSL_REDIRECT": required,
        # Polled over plain HTTP. API requests over HTTP get a 403: a redirect would hide that the
        # key was sent unencrypted.
        "SECURE_REDIRECT_EXEMPT": [r"^(?:healthz|readyz)\Z"],
        "SECURE_SSL_HOST": urlsplit(base_url).netloc if required else None,
        "SECURE_HSTS_SECONDS": 2 * 365 * 24 * 3600 if required else 0,
        "SECURE_HSTS_INCLUDE_SUBDOMAINS": required,
        "SECURE_HSTS_PRELOAD": required,
        "SECURE_PROXY_SSL_HEADER": (
            ("HTTP_X_FORWARDED_PROTO", "https") if is_behind_proxy else None
        ),
        "SECURE_REFERRER_POLICY": "same-origin",
        "X_FRAME_OPTIONS": "DENY",
    }
