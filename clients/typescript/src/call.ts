// What a call is: its request, its deadline, and when it is sent again.

import type { Config } from "./config.js";
import {
  ConnectionFailed,
  DeadlineExceeded,
  EmailValidationError,
  errorFromResponse,
  isObject,
} from "./errors.js";

// Only these operations know idempotency keys. Repeating another POST could do its work twice.
const REPEATABLE_POST = /^\/v1\/(validate(\/batch)?|mcp|lists(\/[^/]+\/(start|rerun))?)\/?$/;
const LONGEST_PAUSE_MS = 4_000;
const SHORTEST_TRY_MS = 5_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
// Statuses that are each worth one more try.
const ONCE: unknown[] = [500, 502, 504];

/** Options that may be left out, or be undefined. */
export type Options<T> = { [Name in keyof T]?: T[Name] | undefined };

export type Query = Record<string, string | number | boolean | null | undefined>;

export type RequestOptions = Options<{
  /** Sent as JSON. */
  json: unknown;
  /** Sent as it is. */
  body: Uint8Array;
  query: Query;
  headers: Record<string, string>;
  /** Milliseconds for the whole call: connecting, retries, pauses and reading. */
  timeout: number;
  idempotencyKey: string;
  signal: AbortSignal;
  /** Leaves the body unread: `data` is its stream, which the signal ends, but no deadline. */
  stream: boolean;
}>;

export interface ApiResponse<T = any> {
  status: number;
  headers: Headers;
  data: T;
}

export type Send = (method: string, path: string, options?: RequestOptions) => Promise<ApiResponse>;

/** Sends a request, again if that can help, and returns its successful response. */
export async function call(
  config: Config,
  anyMethod: string,
  path: string,
  options: RequestOptions,
): Promise<ApiResponse> {
  const method = anyMethod.toUpperCase();
  const isRepeatable = method !== "POST" || REPEATABLE_POST.test(path);
  const url = config.baseUrl + path + toQuery(options.query);
  const init = buildInit(config, method, options);
  const timeout = options.timeout ?? config.timeout;
  // Leaves some time for another try if the API doesn't respond.
  const longestTry = isRepeatable ? Math.max(SHORTEST_TRY_MS, timeout * 0.3) : timeout;
  const end = performance.now() + timeout;
  const checkTime = () => {
    options.signal?.throwIfAborted();
    const left = end - performance.now();
    if (left <= 0) {
      throw new DeadlineExceeded(`The call wasn't finished within ${timeout} ms.`);
    }
    return left;
  };
  const seen: unknown[] = [];
  for (let tries = 1; ; tries += 1) {
    let error: EmailValidationError;
    let wait = isRepeatable ? backoff(tries) : null;
    const time = Math.min(checkTime(), longestTry);
    try {
      const response = await sendOnce(url, init, time, options);
      if (isSuccess(response)) {
        return response;
      }
      error = errorFromResponse(response);
      wait = millisecondsToWait(error, isRepeatable, seen);
      seen.push(error.status);
    } catch (cause) {
      checkTime();
      error = new ConnectionFailed(`The connection to ${config.baseUrl} failed.`, {}, { cause });
    }
    if (wait === null || wait >= end - performance.now()) {
      throw error;
    }
    await sleep(wait, options.signal);
  }
}

/** Returns the object that the API sends, with an array of this name. A proxy may send another. */
export function readObject({ data }: ApiResponse, array?: string): any {
  if (!isObject(data) || (array && !Array.isArray(data[array]))) {
    throw new EmailValidationError(
      "The response isn't one of the API. A proxy may have sent it: check the base URL.",
    );
  }
  return data;
}

function toQuery(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  return given.length
    ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
    : "";
}

function buildInit(config: Config, method: string, options: RequestOptions): RequestInit {
  const headers = new Headers(options.headers);
  for (const [name, value] of Object.entries(config.headers)) {
    headers.set(name, value);
  }
  let body = options.body as BodyInit | undefined;
  if (!body && ["POST", "PUT", "PATCH"].includes(method)) {
    headers.set("Content-Type", "application/json");
    body = JSON.stringify(options.json ?? {});
  }
  if (method === "POST") {
    // Made once, so that a retry is never charged again.
    const key = headers.get("Idempotency-Key") ?? options.idempotencyKey ?? crypto.randomUUID();
    headers.set("Idempotency-Key", key);
  }
  return { method, headers, body: body ?? null, redirect: "manual" };
}

async function sendOnce(
  url: string,
  init: RequestInit,
  time: number,
  { signal, stream }: RequestOptions,
): Promise<ApiResponse> {
  // Node.js 20 can lose signals that AbortSignal.any combines, and with them the deadline.
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  // Timers can fire a millisecond early, when the time isn't over yet.
  const timer = setTimeout(abort, Math.min(Math.ceil(time) + 1, LONGEST_TIMER_MS));
  signal?.addEventListener("abort", abort, { once: true });
  try {
    const response = await fetch(url, { ...init, signal: controller.signal });
    const { status, headers } = response;
    if (stream && isSuccess(response)) {
      return { status, headers, data: response.body };
    }
    const text = await response.text();
    const isJson = mediaType(headers) === "application/json";
    return { status, headers, data: isJson && text ? JSON.parse(text) : null };
  } finally {
    clearTimeout(timer);
    if (!stream) {
      signal?.removeEventListener("abort", abort);
    }
  }
}

/** A page is from a proxy, whatever its status: the API has none, and doesn't redirect. */
function isSuccess({ status, headers }: { status: number; headers: Headers }): boolean {
  return ((status >= 200 && status < 300) || status === 304) && mediaType(headers) !== "text/html";
}

function mediaType(headers: Headers): string | undefined {
  return headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
}

/** Returns null if another try would get the same response, or could do something twice. */
function millisecondsToWait(
  { status, details }: EmailValidationError,
  isRepeatable: boolean,
  seen: unknown[],
): number | null {
  const isRefused = status === 503 && (isRepeatable || details["charged"] === false);
  if (status === 429 || isRefused) {
    // Never earlier than asked, and not all waiting clients at the same moment.
    return (details["retry_after"] ?? 1) * 1000 + Math.random() * 500;
  }
  return ONCE.includes(status) && !seen.includes(status) && isRepeatable ? backoff(1) : null;
}

/** A random pause, so that clients don't come back together after an outage. */
function backoff(tries: number): number {
  return Math.random() * Math.min(LONGEST_PAUSE_MS, 250 * 2 ** tries);
}

export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal?.addEventListener("abort", finish);
  });
  signal?.throwIfAborted();
}
