// One class per `type` of the API's errors, and three for calls without a response.

export interface ErrorFacts {
  status?: number | undefined;
  code?: string | undefined;
  type?: string | undefined;
  param?: string | null | undefined;
  details?: Record<string, any> | undefined;
  request_id?: string | null | undefined;
  doc_url?: string | undefined;
  cause?: unknown;
}

/** An error of the API. Its `code` is stable, and `docUrl` says how to fix the cause. */
export class EmailValidationError extends Error {
  readonly status: number | undefined;
  readonly code: string;
  readonly type: string;
  readonly param: string | null;
  readonly details: Record<string, any>;
  readonly requestId: string | null;
  readonly docUrl: string;

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = new.target.name;
    this.status = facts.status;
    this.code = facts.code ?? "";
    this.type = facts.type ?? "";
    this.param = facts.param ?? null;
    this.details = facts.details ?? {};
    this.requestId = facts.request_id ?? null;
    this.docUrl = facts.doc_url ?? "";
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

const BY_TYPE: Record<string, typeof EmailValidationError> = {
  authentication_error: AuthenticationError,
  billing_error: BillingError,
  permission_error: PermissionDeniedError,
  invalid_request_error: InvalidRequestError,
  conflict_error: ConflictError,
  idempotency_error: IdempotencyError,
  rate_limit_error: RateLimitError,
  api_error: ServerError,
};

/** Returns the API's error, or one for a proxy's response in another format. */
export function errorFromResponse(status: number, body: any): EmailValidationError {
  const error = body?.error;
  if (typeof error !== "object" || error === null) {
    const Kind =
      status === 429 ? RateLimitError : status >= 500 ? ServerError : EmailValidationError;
    return new Kind(
      `The response had the status ${status} and wasn't from the API. ` +
        "A proxy may have sent it: check the base URL.",
      { status },
    );
  }
  const Kind = BY_TYPE[error.type] ?? EmailValidationError;
  return new Kind(String(error.message ?? `Refused with ${status}.`), { ...error, status });
}
