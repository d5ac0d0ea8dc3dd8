"""What a browser may do for our pages: nothing but what is named."""

from csp.constants import NONE, SELF

PAGES_MAY = {
    "default-src": [NONE],
    "base-uri": [NONE],
    "connect-src": [SELF],
    "font-src": [SELF],
    "form-action": [SELF],
    "frame-ancestors": [NONE],
    # Pico draws its form icons from data: addresses; allauth its QR code.
    "img-src": [SELF, "data:"],
    "manifest-src": [SELF],
    "script-src": [SELF],
    "style-src": [SELF],
}

# Copy buttons write to the clipboard, and passkeys are created and used.
_PAGES_USE = ("clipboard-write", "publickey-credentials-create", "publickey-credentials-get")
# Not clipboard-read: a browser asks its user, and the journeys read what a copy button wrote.
_PAGES_DO_NOT_USE = (
    *("accelerometer", "autoplay", "browsing-topics", "camera"),
    *("display-capture", "encrypted-media", "fullscreen", "geolocation", "gyroscope", "hid"),
    *("idle-detection", "local-fonts", "magnetometer", "microphone", "midi", "payment"),
    *("picture-in-picture", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking"),
)
# The Permissions-Policy of every response. deploy/nginx/headers.conf repeats it for nginx.
PERMISSIONS = ", ".join(
    [f"{name}=(self)" for name in _PAGES_USE] + [f"{name}=()" for name in _PAGES_DO_NOT_USE]
)
