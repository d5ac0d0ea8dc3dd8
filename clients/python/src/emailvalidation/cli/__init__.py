"""The command line: `emailvalidation --help`."""

from __future__ import annotations

import os
import sys
from typing import Optional

from emailvalidation._config import ConfigurationError
from emailvalidation.cli.arguments import build_parser
from emailvalidation.cli.screen import Screen
from emailvalidation.errors import (
    AuthenticationError,
    BillingError,
    ConnectionFailed,
    DeadlineExceeded,
    EmailValidationError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
)

FAILED, WRONG_KEY, NO_CREDITS, TRY_LATER, INTERRUPTED = 1, 3, 4, 5, 130


def main(arguments: Optional[list[str]] = None) -> int:
    options = build_parser().parse_args(arguments)
    screen = Screen(as_json=options.json)
    try:
        options.run(options, screen)
        sys.stdout.flush()
    except ConfigurationError as error:
        return _fail(screen, str(error), WRONG_KEY)
    except EmailValidationError as error:
        return _fail(screen, _explain(error), _exit_code(error))
    except (OSError, ValueError) as error:
        if isinstance(error, BrokenPipeError):
            # `… | head` has read enough.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return _fail(screen, str(error), FAILED)
    except KeyboardInterrupt:
        screen.end_progress()
        screen.note("Stopped.")
        return INTERRUPTED
    return 0


def _fail(screen: Screen, message: str, code: int) -> int:
    screen.end_progress()
    screen.error(message)
    return code


def _explain(error: EmailValidationError) -> str:
    link = f"\n{error.doc_url}" if error.doc_url else ""
    request = f" (request {error.request_id})" if error.request_id else ""
    return f"{error.message}{request}{link}"


def _exit_code(error: EmailValidationError) -> int:
    if isinstance(error, (AuthenticationError, PermissionDeniedError)):
        return WRONG_KEY
    if isinstance(error, BillingError):
        return NO_CREDITS
    if isinstance(error, (RateLimitError, ServerError, ConnectionFailed, DeadlineExceeded)):
        return TRY_LATER
    return FAILED
