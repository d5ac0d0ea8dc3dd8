from django.conf import settings
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from apikeys.errors import ApiError
from apikeys.misplaced_keys import missing_api_key
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
        if not request.call.key.allows(request.call.ip):
            raise ApiError("ip_not_allowed")


class AccountIsNotSuspended(ApiPermission):
    def check(self, request: ApiRequest) -> None:
        if request.call.key.account.suspended_at is not None:
            raise ApiError("account_suspended")
