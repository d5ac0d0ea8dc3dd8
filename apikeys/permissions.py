"""Permissions that every API request needs: 401 and 403. The credits package checks the 402."""

from typing import Any

from django.conf import settings
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apikeys.errors import ApiError
from apikeys.misplaced_keys import missing_api_key
from apikeys.request import get_api_key, http_request


class HasApiKey(BasePermission):
    def has_permission(self, request: Request, view: Any) -> bool:
        if request.auth is None:
            raise missing_api_key(request.META)
        return True


class UsesHttps(BasePermission):
    """Refuse plain HTTP. A redirect would hide that the key has been sent unencrypted."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if settings.PRODUCTION and not request.is_secure():
            raise ApiError("https_required")
        return True


class IsFromAllowedNetwork(BasePermission):
    def has_permission(self, request: Request, view: Any) -> bool:
        if not get_api_key(request).allows(http_request(request).ip):
            raise ApiError("ip_not_allowed")
        return True


class AccountIsNotSuspended(BasePermission):
    def has_permission(self, request: Request, view: Any) -> bool:
        if get_api_key(request).account.suspended_at is not None:
            raise ApiError("account_suspended")
        return True
