"""What Django and REST framework run: apps, middleware, templates, renderers."""

from pathlib import Path

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Lower layers first.
INSTALLED_APPS = [
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.github",
    "allauth.socialaccount.providers.google",
    "allauth.usersessions",
    "config.apps.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django.forms",
    "csp",
    "drf_spectacular",
    # Their admin pages replace the libraries'.
    "runtime",
    "accounts",
    "apikeys",
    "credits",
    "validation",
    "lists",
    "reference",
]

MIDDLEWARE = [
    "runtime.http.middleware.IdentifyRequestMiddleware",
    # API requests end here.
    "apikeys.rest.middleware.ApiMiddleware",
    "runtime.http.middleware.PermissionsPolicyMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "config.health.HealthMiddleware",
    "accounts.middleware.ConstantResponseTimeMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # Below the security headers, which a 304 needs, too.
    "runtime.http.public_pages.PublicPageMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "accounts.authentication.sign_in_queue.SignInQueueMiddleware",
    "runtime.http.middleware.ShowInvisibleCharactersMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.middleware.CurrentAccountMiddleware",
    "config.errors.AccountSlotsMiddleware",
    "accounts.middleware.DateDisplayMiddleware",
    "accounts.authentication.second_factor.middleware.RequiredFactorMiddleware",
    # Late, because its page has the navigation.
    "config.errors.LargeFormMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [Path(__file__).resolve().parents[2] / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": [
                "accounts.templatetags.code",
                "accounts.templatetags.pages",
                "credits.templatetags.money",
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "accounts.context_processors.site",
            ],
        },
    }
]
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True
FORMAT_MODULE_PATH = ["config.formats"]

REST_FRAMEWORK = {
    "UNAUTHENTICATED_USER": None,
    "EXCEPTION_HANDLER": "apikeys.rest.responses.handle_exception",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "URL_FORMAT_OVERRIDE": None,
}
