"""The API's error codes. Append-only, as clients depend on them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ApiRefusal:
    status: int
    type: str
    message: str
    # For the errors page.
    cause: str
    cure: str


def _invalid_request(message: str, cause: str, cure: str, status: int = 400) -> ApiRefusal:
    return ApiRefusal(status, "invalid_request_error", message, cause, cure)


def _conflict(message: str, cause: str, cure: str) -> ApiRefusal:
    return ApiRefusal(409, "conflict_error", message, cause, cure)


def _unauthenticated(message: str, cause: str, cure: str) -> ApiRefusal:
    return ApiRefusal(401, "authentication_error", message, cause, cure)


def _forbidden(message: str, cause: str, cure: str) -> ApiRefusal:
    return ApiRefusal(403, "permission_error", message, cause, cure)


REFUSALS: dict[str, ApiRefusal] = {
    "bad_request": _invalid_request(
        "The request could not be read. Check its headers, its body, and any proxy in between.",
        "The request isn't valid HTTP, its URL is longer than 8 KB, its Host header doesn't name "
        "this service, or its body ended before it was complete.",
        "Use a maintained HTTP client and the base URL from these docs. Check whether a proxy "
        "between you and the API modifies requests.",
    ),
    "invalid_json": _invalid_request(
        "The body is not valid JSON.",
        "The body is empty, isn't exactly one JSON document in UTF-8, repeats a field, contains "
        "NaN, Infinity or an unpaired surrogate, or is nested more than 32 levels deep.",
        "Serialize the body with a JSON library instead of concatenating strings, and send it as "
        "UTF-8.",
    ),
    "missing_field": _invalid_request(
        "A required field is missing.",
        "The body is an object, but a field that this operation requires is missing. `param` "
        "names it.",
        "Add the field. For POST /v1/validate it is `email`.",
    ),
    "invalid_field": _invalid_request(
        "A field has the wrong type or length.",
        "A field or header has the wrong type or length. `param` names it, or is null if the body "
        "as a whole isn't an object.",
        "Send `email` as a string of 1 to 320 characters. An Idempotency-Key has 1 to 255 visible "
        "ASCII characters. A malformed address is not an error: it returns a result.",
    ),
    "mailbox_checks_unavailable": _invalid_request(
        "Mailbox checks are not available here.",
        'The request has `check: "mailbox"`, but this service doesn\'t ask mail servers whether '
        "mailboxes exist.",
        "Leave `check` out, or send `dns`.",
    ),
    "batch_larger_than_limit": _invalid_request(
        "The batch has more addresses than your rate limit allows per minute.",
        "Each address of a batch counts as one request, and the batch has more addresses than the "
        "account or the key may send in a minute. `details.limit` is that number.",
        "Send smaller batches, or raise the key's limit or the plan.",
    ),
    "list_too_large": _invalid_request(
        "The list is larger than your plan allows.",
        "A list has more addresses or bytes than the account's plan and packs allow, or the "
        "account's unfinished lists have too many bytes together. `details` has the limit.",
        "Split the list, wait until another list is finished, or upgrade your plan. The Lists page "
        "of these docs has the limits.",
    ),
    "unknown_field": _invalid_request(
        "The request has a field or query parameter that this operation does not accept.",
        "The body has a field, or the URL a query parameter, that this operation doesn't accept, "
        "often because of a typo. `param` names it, unless the name itself contains an API key.",
        "Remove the field or parameter, or correct its name. The API reference lists what each "
        "operation accepts.",
    ),
    "missing_api_key": _unauthenticated(
        "No API key was sent. Send the header: Authorization: Bearer svc_live_…",
        "The Authorization header is missing, or uses a scheme other than Bearer. A key in another "
        "header, the URL, a cookie or the body is never accepted. If a key was found in another "
        "header or in the URL, the message says where, and `details.key_seen_in` is "
        "`x_api_key_header`, `api_key_header`, `http_basic`, `authorization_header` or "
        "`query_string`.",
        "Send the header `Authorization: Bearer $SVC_API_KEY`. Create keys in the dashboard under "
        "Settings → API Keys → Create Key. Replace a key that was sent in a URL, because URLs are "
        "logged.",
    ),
    "invalid_api_key": _unauthenticated(
        "This is not a valid API key. Keys start with svc_live_ and are 47 characters long.",
        "The key doesn't exist. Often part of it was cut off when it was copied, or it belongs to "
        "another instance of the service.",
        "Compare its first and last characters with the list under Settings → API Keys. If you no "
        "longer have the whole key, create a new one.",
    ),
    "api_key_revoked": _unauthenticated(
        "This API key was revoked. Use another key, or create one in the dashboard.",
        "A member of your account revoked this key or rotated it without a grace period, or the "
        "account was closed.",
        "Create a key in the dashboard and deploy it to this server. The list of keys shows when "
        "each one was revoked.",
    ),
    "api_key_expired": _unauthenticated(
        "This API key has expired. Use another key, or create one in the dashboard.",
        "The key reached its expiry date, or it was rotated and its grace period is over.",
        "Switch the server to the new key. Before the next expiry, rotate the key: both keys work "
        "during the grace period you choose.",
    ),
    "insufficient_credits": ApiRefusal(
        402,
        "billing_error",
        "Your balance does not cover this request. Buy credits or upgrade your plan.",
        "The account has fewer credits than this request costs. `details` has both numbers.",
        "Buy credits or upgrade your plan in the dashboard. `details` has the links. Sandbox "
        "addresses and replayed requests still work at a balance of 0.",
    ),
    "key_credit_limit_reached": ApiRefusal(
        402,
        "billing_error",
        "This API key has used the credits that it may use in a month. Raise its limit under "
        "Settings → API Keys.",
        "The key has a limit of credits per calendar month (UTC), and this request could cost more "
        "than what is left of it. Credits held for work that the key started count as used. "
        "`details` has the limit, what is left, and when the limit resets. If the balance doesn't "
        "cover the request either, the code is `insufficient_credits`.",
        "Raise or remove the limit on the key's page (`details.key_url`), or wait until "
        "`details.resets_at`. A smaller batch may still fit. Sandbox addresses and replayed "
        "requests still work.",
    ),
    "plan_limit_reached": ApiRefusal(
        402,
        "billing_error",
        "The Free plan has no more mailbox checks today. Buy credits or upgrade your plan.",
        "The account is on the Free plan, never bought credits, and used its mailbox checks "
        "of this day (UTC). `details` has the limit and when it resets.",
        "Buy credits or upgrade your plan (`details.upgrade_url`), or wait until "
        '`details.resets_at`. Checks without `check: "mailbox"` still work.',
    ),
    "max_credits_exceeded": ApiRefusal(
        402,
        "billing_error",
        "The list can cost more than `max_credits`. Raise `max_credits`, or leave it out.",
        "The list wasn't started, because its price is higher than the `max_credits` that you set. "
        "`details` has both numbers. Nothing was held or charged.",
        "Look at the list's preview. Start the list with a higher `max_credits`, or without one.",
    ),
    "ip_not_allowed": _forbidden(
        "This API key is not allowed from your network. You can change its allowed networks in "
        "the dashboard.",
        "The key is restricted to certain networks, and the request came from another one.",
        "Send the request from an allowed network, or change the key's allowed networks in the "
        "dashboard.",
    ),
    "insufficient_scope": _forbidden(
        "This API key doesn't have the scope that this operation requires.",
        "The key is limited to certain scopes, and `details.required` names the one that is "
        "missing.",
        "Use a key that has the scope, or add it to this key in the dashboard.",
    ),
    "account_suspended": _forbidden(
        "The account of this API key is suspended. Contact support to have the suspension lifted.",
        "Our staff suspended the account. Its keys work again once the suspension is lifted.",
        "Contact support.",
    ),
    "https_required": _forbidden(
        "Send API requests over HTTPS only. This key was sent unencrypted, so replace it.",
        "The request was sent over plain HTTP, so the key could be read in transit.",
        "Use the https:// URL, and rotate the key that was sent.",
    ),
    "not_found": _invalid_request(
        "This operation does not exist. The API reference lists all operations.",
        "The path doesn't match any operation, or your account has no object with the ID in it.",
        "Compare the path with the API reference. All paths start with /v1. Check that the object "
        "wasn't deleted and belongs to the account of this key.",
        404,
    ),
    "method_not_allowed": _invalid_request(
        "This operation does not support this method. Use a method from the Allow header.",
        "The path exists, but doesn't support this method.",
        "Use a method that the response's Allow header lists.",
        405,
    ),
    "not_acceptable": _invalid_request(
        "The API returns application/json only, which your Accept header excludes.",
        "The request's Accept header excludes JSON, the only format the API returns.",
        "Send `Accept: application/json`, or no Accept header.",
        406,
    ),
    "invalid_state": _conflict(
        "The list's state does not allow this. Get the list to see its state.",
        "The operation isn't possible in the list's or the webhook's current state: for example, a "
        "list can't be started twice, its results can't be read before it has started, and nothing "
        "is sent to a disabled webhook. `details.state` is the state.",
        "Get the list, and wait for the state that the operation needs. If your request only "
        "repeats an earlier one, there is nothing to do. Enable a webhook before you test it or "
        "replay its deliveries.",
    ),
    "part_conflict": _conflict(
        "This part was already uploaded with other content.",
        "A part with this number is stored, and its SHA-256 digest is different. Uploading the "
        "same bytes again is fine.",
        "Check how you split the file. To replace it, delete the list and create a new one.",
    ),
    "too_many_lists": _conflict(
        "Your account has too many unfinished lists.",
        "An account can have a limited number of lists that aren't completed, canceled or failed. "
        "`details.limit` is that number.",
        "Wait until a list is completed, or cancel or delete lists that you don't need.",
    ),
    "too_many_webhooks": _conflict(
        "Your account has as many webhooks as it can have.",
        "An account can have a limited number of webhooks, including disabled ones. "
        "`details.limit` is that number.",
        "Delete a webhook that you no longer use, or change its URL and types.",
    ),
    "confirmation_required": _conflict(
        "Over half of the cells in this column are not addresses. Choose another column, or "
        "confirm.",
        "The list was started without `confirm`. If `param` is `column`, over half of the "
        "non-empty cells in its column are not email addresses: often another column has them. If "
        "`param` is `encoding`, several encodings fit the file.",
        "Look at the preview and send `column` or `encoding`. If they are right, send "
        "`confirm: true`. Cells that aren't addresses are free.",
    ),
    "list_expired": _invalid_request(
        "The results of this list were deleted when it expired. Its counts are still available.",
        "Results are stored for a limited time after a list ends. They were deleted at the "
        "list's `expires_at`.",
        "Download results before they expire. To get them again, upload the list again.",
        410,
    ),
    "length_required": _invalid_request(
        "The body was sent without a length. Send a Content-Length header.",
        "The body was sent in chunks, through a server that doesn't support chunked requests.",
        "Send a Content-Length header, as HTTP clients do when they have the whole body.",
        411,
    ),
    "precondition_failed": ApiRefusal(
        412,
        "conflict_error",
        "This was changed since you read it. Get it again, and repeat your change with the new "
        "ETag.",
        "The If-Match header has an ETag, and the current one is different: another request or a "
        "member of your account has made a change in between. Nothing was replaced.",
        "Get the current version, apply your change to it, and send that with its ETag. To replace "
        "any version, leave out If-Match.",
    ),
    "request_too_large": _invalid_request(
        "The body is larger than 8 KB.",
        "The body is larger than this operation accepts. Most accept 8 KB (8,192 bytes), and the "
        "message has the limit.",
        "Send fewer addresses per request. Upload large lists in parts.",
        413,
    ),
    "unsupported_media_type": _invalid_request(
        "Send the body as JSON, with the header: Content-Type: application/json",
        "The Content-Type header is missing or isn't JSON, or the body is compressed.",
        "Send `Content-Type: application/json` and an uncompressed body.",
        415,
    ),
    "idempotency_key_reused": ApiRefusal(
        422,
        "idempotency_error",
        "This Idempotency-Key was used for another request within the last 24 hours.",
        "An Idempotency-Key identifies one request. This one was already sent with other "
        "addresses.",
        "Generate a new key for each request, and reuse it only to retry that same request.",
    ),
    "rate_limit_exceeded": ApiRefusal(
        429,
        "rate_limit_error",
        "Too many requests. Wait for the number of seconds in the Retry-After header.",
        "Within a minute, more requests arrived than the account, the key or, without a valid "
        "key, the IP address may send. Lists and webhooks have other limits: see the message.",
        "Wait for the number of seconds in the Retry-After header, then retry. To stay below the "
        "limit, read X-RateLimit-Remaining.",
    ),
    "internal_error": ApiRefusal(
        500,
        "api_error",
        "Something went wrong on our side. The error was logged, and nothing was charged.",
        "An error in the service. The request isn't charged.",
        "Retry after a few seconds, with the same Idempotency-Key if you sent one. If the error "
        "persists, contact support with the request_id.",
    ),
    "service_unavailable": ApiRefusal(
        503,
        "api_error",
        "The service is temporarily unavailable. Nothing was charged.",
        "A dependency of the service, such as its database, is unavailable, or there are more "
        "requests, in all or of your account, than the service can handle at a time. "
        "`details.charged` is false if nothing was charged, and null if the request may have been "
        "charged, because the connection to the database was lost while the charge was being "
        "stored.",
        "Wait for the number of seconds in `details.retry_after`, then retry with the same "
        "Idempotency-Key. Without one, a charge whose response was lost is refunded, as the page "
        "Idempotency describes.",
    ),
}
