"""Client of the Email Validation API. The README is the manual."""

from emailvalidation import webhooks
from emailvalidation._config import VERSION, ConfigurationError
from emailvalidation._core import SignUpCheck
from emailvalidation.client import Client
from emailvalidation.errors import (
    AuthenticationError,
    BillingError,
    ConflictError,
    ConnectionFailed,
    DeadlineExceeded,
    EmailValidationError,
    IdempotencyError,
    InvalidRequestError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
)
from emailvalidation.lists import ListFailed
from emailvalidation.types import AddressList, BatchResult, Event, Result

__version__ = VERSION
__all__ = [
    "AddressList",
    "AuthenticationError",
    "BatchResult",
    "BillingError",
    "Client",
    "ConfigurationError",
    "ConflictError",
    "ConnectionFailed",
    "DeadlineExceeded",
    "EmailValidationError",
    "Event",
    "IdempotencyError",
    "InvalidRequestError",
    "ListFailed",
    "PermissionDeniedError",
    "RateLimitError",
    "Result",
    "ServerError",
    "SignUpCheck",
    "webhooks",
]
