"""Identify the provider of a domain's mail by the names of its mail hosts. Pure."""

import re
from collections.abc import Iterable

OTHER = "other"
# The first match wins: Microsoft's consumer hosts are below the domain of its business hosts.
HOST_PATTERNS = (
    ("google", r"(.+\.)?(google|googlemail)\.com"),
    ("microsoft_consumer", r".+\.olc\.protection\.outlook\.com"),
    ("microsoft_365", r".+\.protection\.outlook\.(com|de|cn)|.+\.mx\.microsoft"),
    ("yahoo", r".+\.yahoodns\.net"),
    ("apple", r"(.+\.)?icloud\.com"),
    ("zoho", r"(.+\.)?zoho(mail)?\.[a-z]{2,}(\.[a-z]{2})?"),
    ("proton", r"(.+\.)?protonmail\.ch"),
    ("fastmail", r"(.+\.)?messagingengine\.com"),
    ("mimecast", r".+\.mimecast(-offshore)?\.(com|co\.za)"),
    ("proofpoint", r".+\.(pphosted|ppe-hosted)\.com"),
    ("barracuda", r".+\.barracudanetworks\.com"),
    ("cisco", r".+\.iphmx\.com"),
    ("amazon_ses", r"inbound-smtp\..+\.amazonaws\.com"),
    ("yandex", r"mx\.yandex\.(net|ru)"),
    ("mail_ru", r"(.+\.)?(mxs\.mail\.ru|emx\.mail\.ru)"),
    ("gmx", r"mx\d*\.(gmx|web)\.(net|de)|mx-ha\d*\.web\.de"),
    ("ionos", r"mx\d*\.(kundenserver\.de|ionos\.[a-z.]+|1and1\.[a-z.]+)"),
    ("ovh", r"mx\d*\.(mail\.)?ovh\.(net|ca)"),
    ("gandi", r".+\.mail\.gandi\.net"),
    ("rackspace", r".+\.emailsrvr\.com"),
    ("godaddy", r".+\.secureserver\.net"),
    ("namecheap", r"(eforward\d|mx\d)\.(registrar-servers|privateemail)\.com"),
    ("cloudflare", r".+\.mx\.cloudflare\.net"),
    ("improvmx", r"mx\d\.improvmx\.com"),
    ("migadu", r"aspmx\d\.migadu\.com"),
    ("tencent", r".+\.(qq\.com|mail\.qq\.com)"),
    ("netease", r".+\.(netease\.com|163\.com|ntes53\.netease\.com)"),
)
_PATTERN = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in HOST_PATTERNS))


def identify_provider(hosts: Iterable[str]) -> str | None:
    """Return the provider of the first recognized host, or None without hosts."""
    provider = None
    for host in hosts:
        match = _PATTERN.fullmatch(host)
        if match:
            return match.lastgroup
        provider = OTHER
    return provider
