"""Decide how easily a provider's name is mistaken for another company's."""

FAMOUS_NAMES = ("gmail", "googlemail", "hotmail", "icloud", "outlook", "protonmail", "yahoo")
_MIN_LONG = 5
_MIN_UNMISTAKABLE_LENGTH = 7
# Common endings of names, and the minimum length before them.
_COMMON_PARTS = ("cloud", "internet", "link", "mail", "net", "online", "world")
_MIN_OWN_PART = 6
_WORDS = frozenset(
    (
        *("adinet", "amnet", "apollo", "aport", "arnet", "autograf", "axtel", "cable"),
        *("casema", "centrum", "chmail", "claro", "cotas", "disney", "dokom"),
        *("email", "emirates", "excite", "flash", "front", "frontier", "fsmail"),
        *("gazeta", "hotkey", "hughes", "indigo", "inter", "internet", "inwind"),
        *("jaring", "kornet", "mailbox", "menara", "menta", "o2mail"),
        *("online", "optimum", "pandora", "paran", "passagen", "planet", "plasa"),
        *("pobox", "pochta", "poczta", "polka", "poste", "posteo", "primus", "privat"),
        *("prodigy", "quick", "rogers", "scarlet", "simnet", "singnet", "smile"),
        *("speedy", "spoko", "spray", "start", "takas", "tele2", "teletu", "telkom"),
        *("telstra", "telus", "terra", "ttmail", "unitel", "virgin", "webmail"),
        *("ymail", "zebra", "zonnet"),
    )
)


def is_long(name: str) -> bool:
    return len(name) >= _MIN_LONG


def is_distinctive(name: str) -> bool:
    return name in FAMOUS_NAMES or (is_long(name) and name not in _WORDS)


def is_unmistakable(name: str) -> bool:
    # gotmail.com isn't hotmail.com, nor is pcloud.com icloud.com.
    own_part = next(
        (name.removesuffix(part) for part in _COMMON_PARTS if name.endswith(part)), name
    )
    is_long = len(name) >= _MIN_UNMISTAKABLE_LENGTH and len(own_part) >= _MIN_OWN_PART
    return is_long and is_distinctive(name)
