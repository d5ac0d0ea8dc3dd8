// One class per `type` of the API's errors, and four for calls without a response or a result.

import type { ApiResponse } from "./call.js";

type Facts = Partial<
  Pick<EmailValidationError, "status" | "code" | "type" | "param" | "details" | "requestId" | "docUrl">
>;

/** An error of the API. Its `code` is stable, and `docUrl` says how to fix the cause. */
export class EmailValidationError extends Error {
  readonly status: number | undefined = undefined;
  readonly code: string = "";
  readonly type: string = "";
  readonly param: string | null = null;
  readonly details: Record<string, any> = {};
  readonly requestId: string | null = null;
  readonly docUrl: string = "";

  constructor(message: string, facts: Facts = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    Object.assign(this, facts);
  }
}

/** 401: the key is missing, unknown, revoked or expired. */
export class AuthenticationError extends EmailValidationError {}
/** 402: the balance or a limit of credits is too low. */
export class BillingError extends EmailValidationError {}
/** 403: the key lacks a scope, or the account or the network isn't allowed. */
export class PermissionDeniedError extends EmailValidationError {}
/** 400, 404, 410 and others: the request can't work as it is. */
export class InvalidRequestError extends EmailValidationError {}
/** 409: the object's state doesn't allow it. */
export class ConflictError extends EmailValidationError {}
/** 422: the idempotency key was used for another request. */
export class IdempotencyError extends EmailValidationError {}
/** 429: `details.retry_after` says how many seconds to wait. */
export class RateLimitError extends EmailValidationError {}
/** 500, 502 and 503: our fault, or a proxy's. */
export class ServerError extends EmailValidationError {}
/** The API couldn't be reached, or its response was cut off. */
export class ConnectionFailed extends EmailValidationError {}
/** The call's time was over. */
export class DeadlineExceeded extends EmailValidationError {}
/** The API key or the base URL is missing, or can't be right. */
export class ConfigurationError extends EmailValidationError {}
/** The list ended without what was asked for. `code` says why. */
export class ListFailed extends EmailValidationError {}

const BY_TYPE = new Map<unknown, typeof EmailValidationError>([
  ["authentication_error", AuthenticationError],
  ["billing_error", BillingError],
  ["permission_error", PermissionDeniedError],
  ["invalid_request_error", InvalidRequestError],
  ["conflict_error", ConflictError],
  ["idempotency_error", IdempotencyError],
  ["rate_limit_error", RateLimitError],
  ["api_error", ServerError],
]);

/** Returns the API's error, or one for a proxy's response in another format. */
export function errorFromResponse({ status, headers, data }: ApiResponse): EmailValidationError {
  const error = isObject(data?.error) ? data.error : {};
  const details = isObject(error.details) ? { ...error.details } : {};
  const wait = details.retry_after ?? headers.get("retry-after");
  if (wait !== null) {
    details.retry_after = readSeconds(wait);
  }
  const byStatus = status >= 500 ? ServerError : EmailValidationError;
  const Kind = BY_TYPE.get(error.type) ?? (status === 429 ? RateLimitError : byStatus);
  const message =
    textOf(error.message) ??
    `The response had the status ${status} and wasn't from the API. ` +
      "A proxy may have sent it: check the base URL.";
  return new Kind(message, {
    status,
    code: textOf(error.code) ?? "",
    type: textOf(error.type) ?? "",
    param: textOf(error.param),
    details,
    requestId: textOf(error.request_id) ?? headers.get("x-request-id"),
    docUrl: textOf(error.doc_url) ?? "",
  });
}

/** Reads a wait, which proxies also write as the date when it ends. */
function readSeconds(value: unknown): number {
  const text = String(value);
  const seconds = Number.isNaN(Number(text)) ? (Date.parse(text) - Date.now()) / 1000 : Number(text);
  return Number.isNaN(seconds) ? 1 : Math.max(0, seconds);
}

export function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
