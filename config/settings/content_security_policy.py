from csp.constants import NONE, SELF

DIRECTIVES = {
    "default-src": [NONE],
    "base-uri": [NONE],
    "connect-src": [SELF],
    "font-src": [SELF],
    "form-action": [SELF],
    "frame-ancestors": [NONE],
    # Pico's icons and allauth's QR code are data: URLs.
    "img-src": [SELF, "data:"],
    "manifest-src": [SELF],
    "script-src": [SELF],
    "style-src": [SELF],
}

# For copy buttons and passkeys.
_ALLOWED_FEATURES = ("clipboard-write", "publickey-credentials-create", "publickey-credentials-get")
# Not clipboard-read: browsers ask anyway.
_DENIED_FEATURES = (
    *("accelerometer", "autoplay", "browsing-topics", "camera"),
    *("display-capture", "encrypted-media", "fullscreen", "geolocation", "gyroscope", "hid"),
    *("idle-detection", "local-fonts", "magnetometer", "microphone", "midi", "payment"),
    *("picture-in-picture", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking"),
)
# As in deploy/nginx/headers.conf.
PERMISSIONS_HEADER = ", ".join(
    [f"{name}=(self)" for name in _ALLOWED_FEATURES] + [f"{name}=()" for name in _DENIED_FEATURES]
)
