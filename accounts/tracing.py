"""What stands in every log line: the id of the request at hand, and no secret."""

import logging
import re
from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="-")

# Links that open something, and keys: a refused request is logged with its path.
_SECRETS = re.compile(r"(/accounts/(?:invitations|password/reset/key)/|svc_live_)[^/\s'\"]+")


class RequestFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        record.msg = _SECRETS.sub(r"\1…", record.getMessage())
        record.args = ()
        return True
