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
