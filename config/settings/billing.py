from config.settings.environment import Environment
from credits.countries import COUNTRIES

# These currencies (ISO 4217) have no hundredths.
_OTHER_DECIMALS = {
    *("BHD", "BIF", "CLF", "CLP", "DJF", "GNF", "IQD", "ISK", "JOD", "JPY", "KMF", "KRW", "KWD"),
    *("LYD", "MGA", "MRU", "OMR", "PYG", "RWF", "TND", "UGX", "UYI", "UYW", "VND", "VUV"),
    *("XAF", "XOF", "XPF"),
}


def currency(env: Environment) -> str:
    code = env.matching("CURRENCY", "USD", r"[A-Z]{3}", "must be three letters such as USD.")
    if code in _OTHER_DECIMALS:
        env.report("CURRENCY", f"must be a currency with two decimals, such as USD, not {code}.")
    return code


def seller_country(env: Environment) -> str:
    code = env.text("SELLER_COUNTRY").upper()
    if code and code not in COUNTRIES:
        env.report("SELLER_COUNTRY", "must be a country code of ISO 3166, such as DE or US.")
        return ""
    return code
