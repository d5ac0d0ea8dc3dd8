from django.conf import settings
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from apikeys.authentication.misplaced_keys import missing_api_key
from apikeys.errors import ApiError
from apikeys.request import ApiRequest


class ApiPermission(BasePermission):
    """Raise an ApiError instead of returning False, as each refusal has its code."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        self.check(ApiRequest.of(request))
        return True

    def check(self, request: ApiRequest) -> None:
        raise NotImplementedError


class HasApiKey(ApiPermission):
    def check(self, request: ApiRequest) -> None:
        if request.call.valid_key is None:
            raise missing_api_key(request.META)


class UsesHttps(ApiPermission):
    """Refuse plain HTTP. A redirect would hide that the key was sent unencrypted."""

    def check(self, request: ApiRequest) -> None:
        if settings.PRODUCTION and not request.is_secure():
            raise ApiError("https_required")


class IsFromAllowedNetwork(ApiPermission):
    def check(self, request: ApiRequest) -> None:
        if not request.call.key.allows_ip(request.call.ip):
            raise ApiError("ip_not_allowed")


class HasScope(ApiPermission):
    """Paths and methods without an operation require no scope: they are a 404 or 405."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        handler = getattr(view, str(request.method).lower(), None)
        scope = getattr(handler, "scope", "")
        if scope and not ApiRequest.of(request).call.key.has_scope(scope):
            message = (
                f"This API key doesn't have the scope {scope}. Add it in Settings → API Keys, or "
                "use a key that has it."
            )
            raise ApiError("insufficient_scope", message, details={"required": scope})
        return True


class AccountIsNotSuspended(ApiPermission):
    def check(self, request: ApiRequest) -> None:
        if request.call.key.account.suspended_at is not None:
            raise ApiError("account_suspended")
