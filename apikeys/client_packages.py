"""The packages of the clients, which customers install from this service."""

from django.conf import settings

_FOLDER = settings.BASE_DIR / "static" / "clients"


def _find(pattern: str) -> str:
    newest = max(package.name for package in _FOLDER.glob(pattern))
    return f"{settings.BASE_URL}/static/clients/{newest}"


PYTHON_PACKAGE = _find("*.whl")
TYPESCRIPT_PACKAGE = _find("*.tgz")
