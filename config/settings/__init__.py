"""Define all settings. docs/configuration.md describes their environment variables."""

import os
import sys
import tomllib
from datetime import date
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import django_stubs_ext

from config.hooks import *  # noqa: F403
from config.server.pools import POOLS
from config.settings.billing import currency, seller_country
from config.settings.brand import brand_mark, product_name
from config.settings.caches import cache_settings, redis_url
from config.settings.content_security_policy import DIRECTIVES, PERMISSIONS_HEADER
from config.settings.databases import database_settings, pgbouncer_settings, replica_settings
from config.settings.environment import Environment, get_origin
from config.settings.framework import *  # noqa: F403
from config.settings.identity_providers import identity_providers
from config.settings.mail import mail_settings
from config.settings.openapi import openapi_settings
from config.settings.production_checks import require_production_settings
from config.settings.secrets import values_to_mask
from config.settings.sign_in import *  # noqa: F403
from config.settings.staff_groups import GROUPS
from config.settings.staff_tables import STAFF_TABLES
from config.settings.telemetry import sentry_dsn, trace_rate
from runtime.logging.dict_config import FORMATS, LEVELS, log_settings
from runtime.logging.formatters import mask_values

# Allows ModelAdmin[Account].
django_stubs_ext.monkeypatch()

env = Environment(os.environ)

# --- Instance -------------------------------------------------------------------------------------

BASE_DIR = Path(__file__).resolve().parent.parent.parent
VERSION: str = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]
# A release folder has the file; the image sets the variable.
_RELEASE = BASE_DIR / "RELEASE"
COMMIT = env.text("RELEASE_COMMIT", _RELEASE.read_text().strip() if _RELEASE.exists() else "")
DATA_DIR = env.folder("DATA_DIR", BASE_DIR / "var", outside=BASE_DIR)
ENVIRONMENT = env.choice("ENVIRONMENT", "local", ("local", "production"))
PRODUCTION = ENVIRONMENT == "production"
DEBUG = env.flag("DEBUG", False)

PRODUCT_NAME = product_name(env)
BRAND_MARK = brand_mark(env)
BRAND_MARK_URL = "/brand-mark.svg" if BRAND_MARK else ""

PORT = env.integer("PORT", 8000, minimum=1, maximum=65535)
BASE_URL = env.web_address("BASE_URL", f"http://127.0.0.1:{PORT}")
BASE_HOST = urlsplit(BASE_URL).hostname or ""
HTTPS = BASE_URL.startswith("https://")
# Whose X-Forwarded-For and X-Forwarded-Proto are trusted.
TRUSTED_PROXIES = env.integer("TRUSTED_PROXIES", 0, minimum=0, maximum=10)
ALLOWED_HOSTS = env.names(
    "ALLOWED_HOSTS", [BASE_HOST] if PRODUCTION else [BASE_HOST, "127.0.0.1", "localhost", "[::1]"]
)

# --- Secrets --------------------------------------------------------------------------------------

_SECRETS_FOLDER = None if PRODUCTION else DATA_DIR / "secrets"
SECRET_KEY = env.secret("SECRET_KEY", _SECRETS_FOLDER)
API_KEY_PEPPER = env.secret("API_KEY_PEPPER", _SECRETS_FOLDER)
ADDRESS_HASH_KEY = env.secret("ADDRESS_HASH_KEY", _SECRETS_FOLDER)
SECRET_KEY_FALLBACKS = [key for key in (env.text("SECRET_KEY_PREVIOUS"),) if key]
API_KEY_PEPPER_PREVIOUS = env.text("API_KEY_PEPPER_PREVIOUS")

# --- Database, counters and cache -----------------------------------------------------------------

WEB_POOL = env.choice("WEB_POOL", "all", ("all", *POOLS))
WORKERS_BY_POOL = {
    name: env.integer(pool.variable, pool.default_workers, minimum=1, maximum=256)
    for name, pool in POOLS.items()
}
POOL_WORKERS = WORKERS_BY_POOL.get(WEB_POOL, WORKERS_BY_POOL["api"])
MACHINE_WORKERS = POOL_WORKERS if WEB_POOL == "all" else sum(WORKERS_BY_POOL.values())
WEB_THREADS = env.integer("WEB_THREADS", 16, minimum=1, maximum=512)
# Set by config/wsgi.py. Other processes use one connection.
SERVES_WEB = env.flag("SERVES_WEB", False)

_POOL_SIZE = WEB_THREADS if SERVES_WEB else 0

_DATABASE = database_settings(env, DATA_DIR / "db.sqlite3", pool_size=_POOL_SIZE)
# For web workers only: commands such as migrate need a session.
PGBOUNCER = pgbouncer_settings(env, _DATABASE, pool_size=_POOL_SIZE)
DATABASES = {"default": PGBOUNCER if PGBOUNCER and SERVES_WEB else _DATABASE}
REPLICA = replica_settings(env, _DATABASE, pool_size=_POOL_SIZE)
if REPLICA:
    DATABASES["replica"] = REPLICA
    DATABASE_ROUTERS = ["runtime.database.replica.ReplicaRouter"]
# Logs and counts. Nothing that decides about money, keys or permissions.
REPLICA_MODELS = {
    *("accounts.auditentry", "apikeys.refusalhour", "credits.useday", "credits.usehour"),
    "validation.logentry",
}

REDIS_URL = redis_url(env)
CACHES = cache_settings(REDIS_URL, DATA_DIR / "counters.sqlite3")
RATELIMIT_USE_CACHE = "counters"

# --- Sign-in --------------------------------------------------------------------------------------

ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if HTTPS else "http"
SOCIALACCOUNT_PROVIDERS = identity_providers(env)
MFA_TOTP_ISSUER = BASE_HOST
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not PRODUCTION
# Browsers support no passkeys on IP addresses.
PASSKEY_ORIGINS = [get_origin(BASE_URL), *([] if PRODUCTION else [f"http://localhost:{PORT}"])]
STAFF_NEED_SECOND_FACTOR = PRODUCTION
STAFF_GROUPS = GROUPS

# --- Mail -----------------------------------------------------------------------------------------

MAIL_DIR = DATA_DIR / "mail"
EMAILS_ARE_FILES = not env.is_set("EMAIL_URL")
globals().update(mail_settings(env, MAIL_DIR))  # EMAIL_BACKEND, EMAIL_HOST, EMAIL_PORT, …
EMAIL_TIMEOUT = 10
_MAIL_HOST = BASE_HOST if PRODUCTION else "example.com"
DEFAULT_FROM_EMAIL = env.sender("DEFAULT_FROM_EMAIL", f"{PRODUCT_NAME} <hello@{_MAIL_HOST}>")
SERVER_EMAIL = DEFAULT_FROM_EMAIL
SUPPORT_EMAIL = env.sender("SUPPORT_EMAIL", f"support@{_MAIL_HOST}", name_allowed=False)
MAIL_RETENTION_DAYS = 30

# --- Static files ---------------------------------------------------------------------------------

STATIC_URL = "static/"
_IN_RELEASE, _IN_DATA = BASE_DIR / "collected-static", DATA_DIR / "collected-static"
STATIC_ROOT = Path(env.text("STATIC_ROOT", str(_IN_RELEASE if _IN_RELEASE.exists() else _IN_DATA)))
COLLECT_STATIC = STATIC_ROOT == _IN_DATA
STATICFILES_DIRS = [BASE_DIR / "static"]
# WhiteNoise adds the charset to other texts only.
WHITENOISE_MIMETYPES = {".csv": "text/csv", ".svg": "image/svg+xml; charset=utf-8"}
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# --- Pages: cookies, transport, browser policies --------------------------------------------------

_COOKIE_PREFIX = "__Host-" if HTTPS else ""
SESSION_COOKIE_NAME = f"{_COOKIE_PREFIX}session"
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 14 * 24 * 3600
KNOWN_BROWSER_COOKIE_NAME = f"{_COOKIE_PREFIX}known_browser"
CSRF_COOKIE_NAME = f"{_COOKIE_PREFIX}csrf"
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "config.errors.csrf_failure"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

SECURE_SSL_REDIRECT = PRODUCTION
# Polled over plain HTTP. API requests over HTTP get a 403: a redirect would hide that the key was
# sent unencrypted.
SECURE_REDIRECT_EXEMPT = [r"^(?:healthz|readyz)\Z"]
SECURE_SSL_HOST = urlsplit(BASE_URL).netloc if PRODUCTION else None
SECURE_HSTS_SECONDS = 2 * 365 * 24 * 3600 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {"DIRECTIVES": DIRECTIVES}
PERMISSIONS_POLICY = PERMISSIONS_HEADER

# --- The API --------------------------------------------------------------------------------------

ANONYMOUS_REQUESTS_PER_MINUTE = env.integer(
    "ANONYMOUS_REQUESTS_PER_MINUTE", 60, minimum=1, maximum=1_000_000
)
SPECTACULAR_SETTINGS = openapi_settings(PRODUCT_NAME, BASE_URL, SUPPORT_EMAIL, VERSION)
DNS_RESOLVERS = env.resolvers("DNS_RESOLVERS")
DNS_TIMEOUT = env.number("DNS_TIMEOUT", 3, minimum=0.1, maximum=30)
# Entries per worker, 2 KB each.
DNS_CACHE_SIZE = env.integer("DNS_CACHE_SIZE", 4_000, minimum=1_000, maximum=10_000_000)
# The public key of who publishes domain data, and where the background worker looks for them.
DOMAIN_DATA_KEY = env.matching(
    "DOMAIN_DATA_KEY", "", r"([A-Za-z0-9+/]{43}=)?", "must be an Ed25519 public key in Base64."
)
DOMAIN_DATA_URL = env.web_address("DOMAIN_DATA_URL", "") if env.is_set("DOMAIN_DATA_URL") else ""
if DOMAIN_DATA_URL and not DOMAIN_DATA_KEY:
    env.report("DOMAIN_DATA_KEY", "must be set, too, if DOMAIN_DATA_URL is.")
# The background worker looks up the mail hosts of domains that are new in the request log.
FIND_MAIL_HOSTS = env.flag("FIND_MAIL_HOSTS", False)
# Uploads stay in memory: lists are stored encrypted.
FILE_UPLOAD_MAX_MEMORY_SIZE = DATA_UPLOAD_MAX_MEMORY_SIZE = 9 * 1024 * 1024

# --- Webhooks -------------------------------------------------------------------------------------

# Allows http, any port and private addresses, for tests and local work.
WEBHOOK_ALLOW_PRIVATE = env.flag("WEBHOOK_ALLOW_PRIVATE", False)
# Connects to the checked addresses.
WEBHOOK_PROXY = env.web_address("WEBHOOK_PROXY", "") if env.is_set("WEBHOOK_PROXY") else ""
if WEBHOOK_PROXY.startswith("https://"):
    env.report("WEBHOOK_PROXY", "must start with http://: the proxy only sees encrypted requests.")

# --- Mailbox checks -------------------------------------------------------------------------------

PROBE_MAILBOX_CHECKS = env.flag("PROBE_MAILBOX_CHECKS", False)
# The operator's domain: the name of EHLO, and the sender's.
PROBE_DOMAIN = env.text("PROBE_DOMAIN").lower()
PROBE_SENDER = env.sender(
    "PROBE_SENDER", f"probe@{PROBE_DOMAIN or 'localhost'}", name_allowed=False
)
# The local address to connect from. Empty: the system decides.
PROBE_ADDRESS = env.text("PROBE_ADDRESS")
# SOCKS5 proxies, each an egress with its own pace. Empty: connect directly.
PROBE_PROXY = env.names("PROBE_PROXY", [])
# Processes, and concurrent conversations in each.
PROBE_PROCESSES = env.integer("PROBE_PROCESSES", 1, minimum=0, maximum=64)
PROBE_WORKERS = env.integer("PROBE_WORKERS", 64, minimum=1, maximum=1_000)
# How long mail servers are asked for a list. Mailboxes without an answer are unknown then.
PROBE_LIST_HOURS = env.integer("PROBE_LIST_HOURS", 72, minimum=1, maximum=24 * 30)

if PROBE_MAILBOX_CHECKS and not PROBE_DOMAIN:
    env.report("PROBE_DOMAIN", "must be set while PROBE_MAILBOX_CHECKS is on.")

# --- Billing --------------------------------------------------------------------------------------

CURRENCY = currency(env)
TAX_RATE = Decimal(str(env.number("TAX_RATE", 0, minimum=0, maximum=1)))
SELLER_COUNTRY = seller_country(env)
SELLER_NAME = env.text("SELLER_NAME", "Example Validation Ltd")
SELLER_ADDRESS = env.text("SELLER_ADDRESS", "1 Example Street, Exampleton")
SELLER_TAX_ID = env.text("SELLER_TAX_ID", "EX123456789")
INVOICE_PAYMENT_DETAILS = env.text("INVOICE_PAYMENT_DETAILS", "Example Bank, account 000000")
STRIPE_SECRET_KEY = env.text("STRIPE_SECRET_KEY")
STRIPE_WEBHOOK_SECRET = env.text("STRIPE_WEBHOOK_SECRET")
STRIPE_API_URL = env.web_address("STRIPE_API_URL", "https://api.stripe.com")
STRIPE_CHECKOUT_URL = env.web_address("STRIPE_CHECKOUT_URL", "https://checkout.stripe.com")
for name in env.missing("STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"):
    if STRIPE_SECRET_KEY or STRIPE_WEBHOOK_SECRET:
        env.report(name, "must be set: Stripe's two secrets go together.")
# Per staff user and 24 hours, without another's approval.
STAFF_GRANT_LIMIT = env.integer("STAFF_GRANT_LIMIT", 100_000, minimum=0, maximum=1_000_000_000)
# Per email domain, free providers aside, and 30 days.
SIGN_UP_CREDITS_PER_DOMAIN = env.integer(
    "SIGN_UP_CREDITS_PER_DOMAIN", 3, minimum=0, maximum=1_000_000
)

# --- Legal pages ----------------------------------------------------------------------------------

TERMS_VERSION = env.day("TERMS_VERSION", date(2026, 11, 23))
GOVERNING_LAW = env.text("GOVERNING_LAW")
HOSTING = env.text("HOSTING")
_subprocessors = env.names("SUBPROCESSORS", [], separator=";")
SUBPROCESSORS = [name for name in _subprocessors if name.lower() != "none"]
_LEGAL = ("GOVERNING_LAW", "HOSTING", "SUBPROCESSORS")
MISSING_LEGAL_SETTINGS = env.missing("SELLER_NAME", "SELLER_ADDRESS", "SELLER_TAX_ID", *_LEGAL)

# --- Background jobs, logs, metrics, errors and traces --------------------------------------------

SCHEDULER = env.flag("SCHEDULER", True)
LIST_PROCESSES = env.integer("LIST_PROCESSES", 1, minimum=0, maximum=64)
WEBHOOK_PROCESSES = env.integer("WEBHOOK_PROCESSES", 1, minimum=0, maximum=64)
LOG_LEVEL = env.choice("LOG_LEVEL", "info", LEVELS).upper()
LOG_FORMAT = env.choice("LOG_FORMAT", "json" if PRODUCTION else "text", FORMATS)
LOG_RETENTION_DAYS = env.integer("LOG_RETENTION_DAYS", 30, minimum=1, maximum=3650)
RESULT_RETENTION_HOURS = env.integer("RESULT_RETENTION_HOURS", 24, minimum=0, maximum=720)
LIST_RETENTION_DAYS = env.integer("LIST_RETENTION_DAYS", 30, minimum=1, maximum=90)
METRICS_DIR = Path(env.text("PROMETHEUS_MULTIPROC_DIR", str(DATA_DIR / "metrics")))
METRICS_ADDRESS = env.listener("METRICS_PORT")
if METRICS_ADDRESS is not None and METRICS_ADDRESS[1] == PORT:
    env.report("METRICS_PORT", "must be another port than PORT.")
# Read when prometheus_client is imported. Only these processes count in files.
os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)
_COMMANDS = ("run_worker", "run_lists", "run_webhooks", "run_probes")
_COUNTS = SERVES_WEB or (len(sys.argv) > 1 and sys.argv[1] in _COMMANDS)
if METRICS_ADDRESS is not None and _COUNTS:
    _folder = env.folder("PROMETHEUS_MULTIPROC_DIR", METRICS_DIR, outside=BASE_DIR)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(_folder)
# Finds API keys, with or without prefix.
API_KEY_DETECTOR = "apikeys.crypto.contains_secret"
SENTRY_DSN = sentry_dsn(env)
_sentry = {"dsn": SENTRY_DSN, "release": VERSION, "environment": ENVIRONMENT}
LOGGING = log_settings(LOG_LEVEL, LOG_FORMAT, _sentry if SENTRY_DSN else None)
mask_values(values_to_mask(env.values))
DEFAULT_EXCEPTION_REPORTER_FILTER = "runtime.logging.debug_pages.MaskingFilter"
TRACE_RATE = trace_rate(env)
TRACES_REQUESTS = SERVES_WEB and TRACE_RATE is not None
if TRACES_REQUESTS:
    MIDDLEWARE.insert(0, "config.tracing.TracingMiddleware")  # noqa: F405

# --- Validation -----------------------------------------------------------------------------------

if PRODUCTION:
    require_production_settings(env, globals())
env.raise_problems()
