from collections import Counter
from math import log

_IDEOGRAPH, _OTHER = -8.0, -7.0
# Any language may use it.
_PUNCTUATION = dict.fromkeys("’‘“”–…€°ªº®", -4.0)
# The letters beyond ASCII of one language each, most frequent first, in lower case.
_ALPHABETS = (
    *("’–“”…é°", "éèêçëôîïâûàùœüÿæ", "üöäß", "áíóéñúüª", "ãçáéíóêõâúôà", "àòèùìé", "øæåéöä"),
    *("öäåé", "ëéïö", "łóńśąężćź", "áíéřěčšžýůúňťďó", "áíéýčšžúľťňôďäóŕĺ", "áéőóöüíúű"),
    *("ăâîșşțţ", "čćšžđ", "ışçüğöîâ\u0307", "ėšįąžūųčę", "āīēūšņļģķžč", "äõüöšž", "áíóðúþæöéý"),
    "ăđêôơư\u0300\u0301\u0303\u0309\u0323áàãéèíìóòõúùýâ",
    "оаеинвртлскмдпуяыгьзбчйхжшюцщэфъё",
    "оаниівретлскмдпуяьзгбчйхжшюцщїєфґ",
    "αοιετνσςηρπκμλυάόίγέήδχώύθφβξζψϊϋ΄",
    "יולהאמרבתשדנחקכעפטםןסגזצץךף",
    "اليمنرتبةعدسفهكحقوأجشطصخضذئءإزىآثغظؤ",
    "านรกอเงวมยลตทสด่้ิ์ีพุแบขัคไะใชหณโำจญูธศผปซถึษ็ฉฐืฎภ๋ฤฏฝฮฟฬฆ๊ฒ",
)
_FITS = [
    _PUNCTUATION | {letter: -1 - log(rank) for rank, letter in enumerate(alphabet, 1)}
    for alphabet in _ALPHABETS
]


def fit(text: str) -> float:
    """Return how well the text's letters fit one language. 0 would be perfect."""
    letters = Counter(character for character in text.lower() if character > "\x7f")
    return max(
        sum(
            count * fits.get(letter, _IDEOGRAPH if "\u2e80" <= letter < "\uff00" else _OTHER)
            for letter, count in letters.items()
        )
        for fits in _FITS
    )
