"""Reduce domains to their shape, which is the same for rnicrosoft.com and microsoft.com."""

import unicodedata

# Cyrillic, Greek, Armenian and Latin letters that look like a Latin one (UTS 39).
_LETTERS = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u04cf\u051b\u051d"
    "\u03b1\u03bf\u03bd\u03c1\u03b9\u03ba\u03c5\u03c4\u0585\u057d\u0578\u0570\u0131\u0261\u0251"
    "\u0142\u00f8\u0111",
    "aeopcyxijsdhlqwaovpikutounhigalod",
)
_ALIKE = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("i", "l"), ("1", "l"), ("0", "o"), ("5", "s"))


def find_shape(domain: str) -> str:
    if not domain.isascii():
        decomposed = unicodedata.normalize("NFKD", domain)
        letters = (letter for letter in decomposed if not unicodedata.combining(letter))
        domain = "".join(letters).translate(_LETTERS)
    for seen, meant in _ALIKE:
        domain = domain.replace(seen, meant)
    return domain
