from functools import cache, partial
from urllib.parse import urlsplit

from django.conf import settings

from engine import Dialer, SocksProxy, connect_directly
from validation.models import MailHostPace, Probe

DIRECT = "direct"


@cache
def egresses() -> dict[str, Dialer]:
    """Return what connects from each address that mail servers are asked from, by its name."""
    if not settings.PROBE_PROXY:
        return {DIRECT: partial(connect_directly, source=settings.PROBE_ADDRESS)}
    return {_name(url): SocksProxy(url).connect for url in settings.PROBE_PROXY}


def move_probes() -> None:
    """Move checks that wait for an egress that is no longer configured to another one."""
    first = next(iter(egresses()))
    stranded = Probe.objects.waiting().exclude(egress__in=egresses())
    organizations = stranded.order_by().values_list("organization", flat=True).distinct()
    MailHostPace.objects.ensure((organization, first) for organization in organizations)
    stranded.update(egress=first)


def _name(url: str) -> str:
    """Leave out the user and password."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or 1080}"
