from allauth.account.auth_backends import AuthenticationBackend
from django.http import HttpRequest

from accounts.models import User


class ConfirmedUsersBackend(AuthenticationBackend):
    """Treat users who never confirmed their address as unknown.

    Otherwise a stranger could learn whether an address was free by signing up with it and then
    signing in.
    """

    def authenticate(self, request: HttpRequest | None, **credentials: str) -> User | None:
        user: User | None = super().authenticate(request, **credentials)
        if user is None or User.objects.never_confirmed().filter(pk=user.pk).exists():
            return None
        return user
