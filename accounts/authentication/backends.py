from allauth.account.auth_backends import AuthenticationBackend
from django.http import HttpRequest

from accounts.models import User


class ConfirmedUsersBackend(AuthenticationBackend):
    """Treat unconfirmed users as unknown: signing up and in must not reveal a free address."""

    def authenticate(self, request: HttpRequest | None, **credentials: str) -> User | None:
        user: User | None = super().authenticate(request, **credentials)
        if user is None or User.objects.never_confirmed().filter(pk=user.pk).exists():
            return None
        return user
