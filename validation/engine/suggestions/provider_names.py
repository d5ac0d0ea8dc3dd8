"""Tell how easily a mail provider's name is mistaken for that of another company. Pure.

`docs/validation.md` counts names of real sites: 30 on average are one typo away from a provider's
name of three letters, 14 from one of four, 5 from one of five, 2 from one of six, and 0.4 from a
longer one.
"""

# So much better known than any domain one typo away that a typo is the likelier explanation.
FAMOUS_NAMES = ("gmail", "googlemail", "hotmail", "icloud", "outlook", "protonmail", "yahoo")
_MIN_LONG = 5
# With at least this many letters, a name is recognizable even if it begins with a wrong one.
_MIN_UNMISTAKABLE_LENGTH = 7
# What many names end in, and how long the part before it must be.
_COMMON_PARTS = ("cloud", "internet", "link", "mail", "net", "online", "world")
_MIN_OWN_PART = 6
# These names have many such neighbors, most of them words.
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
    """Whether the usual slips in a name leave it recognizable."""
    return len(name) >= _MIN_LONG


def is_distinctive(name: str) -> bool:
    """Whether a similar name is likely to be a typo of this one."""
    return name in FAMOUS_NAMES or (is_long(name) and name not in _WORDS)


def is_unmistakable(name: str) -> bool:
    """Whether a similar name is likely to be a typo even if it begins with another letter."""
    # gotmail.com isn't hotmail.com, and pcloud.com isn't icloud.com.
    own_part = next(
        (name.removesuffix(part) for part in _COMMON_PARTS if name.endswith(part)), name
    )
    is_long = len(name) >= _MIN_UNMISTAKABLE_LENGTH and len(own_part) >= _MIN_OWN_PART
    return is_long and is_distinctive(name)
