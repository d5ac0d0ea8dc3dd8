from django.conf import settings
from django.http import HttpRequest

from runtime.http.client_ip import is_address


def site(request: HttpRequest) -> dict[str, object]:
    return {
        "base_url": settings.BASE_URL,
        "support_email": settings.SUPPORT_EMAIL,
        "currency": settings.CURRENCY,
        "tax_rate": settings.TAX_RATE,
        # Without a mail server, pages name the emails' folder.
        "mail_folder": settings.MAIL_DIR if settings.EMAILS_ARE_FILES else None,
        "passkeys_work": not is_address(request.get_host()),
    }
