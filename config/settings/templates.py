from pathlib import Path

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
