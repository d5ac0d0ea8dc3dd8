from collections.abc import Iterable

from engine.domain_data import DomainData
from engine.typos import Typo, classify_typo

_COMMON_TLDS = (
    *("com", "net", "org", "edu", "gov", "info", "biz", "de", "uk", "fr", "it", "es", "nl", "br"),
    *("ru", "pl", "ca", "au", "jp", "in", "ch", "at", "be", "se", "us", "mx", "cz", "dk", "no"),
)
_COMMON_COUNTRY_SUFFIXES = (
    *("co.uk", "com.br", "com.au", "co.in", "co.jp", "co.za", "co.nz", "com.mx", "com.tr", "co.il"),
    *("com.ar", "com.tw", "com.cn", "com.hk", "com.sg", "org.uk", "ac.uk", "co.kr", "net.au"),
)


def undouble_ending(domain: str, data: DomainData) -> str | None:
    """Return shop.de for shop.de.de, and shop.co.uk for shop.co.uk.co.uk."""
    labels = domain.split(".")
    if len(labels) < 3:
        return None
    for length in (2, 1):
        ending = labels[-length:]
        if labels[-2 * length : -length] == ending and data.is_public_suffix(".".join(ending)):
            undoubled = ".".join(labels[:-length])
            return undoubled if data.registrable_domain(undoubled) else None
    return None


def correct_unknown_ending(domain: str) -> str | None:
    name, _, tld = domain.rpartition(".")
    owner_label, _, second_level = name.rpartition(".")
    if owner_label:
        nearest = _nearest(f"{second_level}.{tld}", _COMMON_COUNTRY_SUFFIXES)
        if nearest:
            return f"{owner_label}.{nearest}"
    nearest = _nearest(tld, _COMMON_TLDS)
    return nearest and f"{name}.{nearest}"


def complete_ending(domain: str) -> str | None:
    """Return shop.co.jp for shop.cojp, and shop.net for shop.nt."""
    name, _, tld = domain.rpartition(".")
    incomplete = {suffix.replace(".", ""): suffix for suffix in _COMMON_COUNTRY_SUFFIXES}
    ending = {**incomplete, "nt": "net", "og": "org"}.get(tld)
    return ending and f"{name}.{ending}"


def _nearest(typed: str, endings: Iterable[str]) -> str | None:
    typos = ((classify_typo(typed, ending), ending) for ending in endings)
    certain = [
        (typo, rank, ending)
        for rank, (typo, ending) in enumerate(typos)
        # Of two letters, a wrong one could be almost any.
        if typo is not None
        and typo is not Typo.OTHER
        and (len(typed) > 2 or typo is Typo.TRANSPOSED)
    ]
    return min(certain)[2] if certain else None
