"""The packages of the clients, which customers install from this service."""

from django.conf import settings

_FOLDER = settings.BASE_DIR / "static" / "clients"


def _find(pattern: str) -> str:
    (package,) = _FOLDER.glob(pattern)
    name: str = package.name
    return f"{settings.BASE_URL}/static/clients/{name}"


PYTHON_PACKAGE = _find("*.whl")
TYPESCRIPT_PACKAGE = _find("*.tgz")
