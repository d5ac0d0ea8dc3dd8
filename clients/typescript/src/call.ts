// What a call is: its request, its deadline, and when it is sent again.

import {
  ConfigurationError,
  ConnectionFailed,
  DeadlineExceeded,
  EmailValidationError,
  errorFromResponse,
} from "./errors.js";

export const VERSION = "1.0.0";

// Only these operations know idempotency keys. Repeating another POST could do its work twice.
const REPEATABLE_POST = /^\/v1\/(validate(\/batch)?|mcp|lists(\/[^/]+\/(start|rerun))?)\/?$/;
const LONGEST_PAUSE_MS = 4_000;
const SHORTEST_TRY_MS = 5_000;
// Statuses that are each worth one more try.
const ONCE = [500, 502, 504];

export type Query = Record<string, string | number | boolean | null | undefined>;

export interface RequestOptions {
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is. */
  body?: Uint8Array;
  query?: Query;
  headers?: Record<string, string>;
  /** Milliseconds for the whole call: connecting, retries, pauses and reading. */
  timeout?: number | undefined;
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface ApiResponse<T = any> {
  status: number;
  headers: Headers;
  data: T;
}

export interface Config {
  baseUrl: string;
  headers: Record<string, string>;
  timeout: number;
}

export function loadConfig(
  apiKey: string | undefined,
  baseUrl: string | undefined,
  timeout: number,
): Config {
  if (typeof window !== "undefined" && typeof document !== "undefined") {
    throw new ConfigurationError(
      "API keys belong on servers: a browser shows them to every visitor. " +
        "Call a route of your own instead, as emailvalidation/server does.",
    );
  }
  const environment = typeof process === "undefined" ? {} : process.env;
  const key = apiKey ?? environment["SVC_API_KEY"] ?? "";
  const url = (baseUrl ?? environment["SVC_BASE_URL"] ?? "").replace(/\/+$/, "").replace(/\/v1$/, "");
  if (!key) {
    throw new ConfigurationError(
      "The API key is missing. Create one under Settings, and set SVC_API_KEY.",
    );
  }
  if (!/^svc_live_[0-9A-Za-z]{38}$/.test(key)) {
    throw new ConfigurationError(
      "This isn't an API key: keys have 47 characters and start with svc_live_. " +
        "Copy it again, without quotes and spaces.",
    );
  }
  if (!/^https?:\/\/[^/]/.test(url)) {
    throw new ConfigurationError(
      "The base URL is missing or isn't a URL. Set SVC_BASE_URL, " +
        "for example to https://api.example.com.",
    );
  }
  if (!/^https:|^http:\/\/(localhost|127\.[\d.]+|\[::1\]|[^/]+\.localhost)(:|\/|$)/.test(url)) {
    throw new ConfigurationError(
      `The base URL ${url} would send the API key unencrypted. Use https://.`,
    );
  }
  const headers = {
    Authorization: `Bearer ${key}`,
    "User-Agent": `emailvalidation-typescript/${VERSION}`,
  };
  return { baseUrl: url, headers, timeout };
}

class Deadline {
  readonly #end: number;

  constructor(readonly milliseconds: number) {
    this.#end = performance.now() + milliseconds;
  }

  get left(): number {
    return this.#end - performance.now();
  }

  /** The time of one try leaves some for another if the API doesn't respond. */
  get forOneTry(): number {
    return Math.max(0, Math.min(this.left, Math.max(SHORTEST_TRY_MS, this.milliseconds * 0.3)));
  }

  check(): void {
    if (this.left <= 0) {
      throw new DeadlineExceeded(`The call wasn't finished within ${this.milliseconds} ms.`);
    }
  }
}

/** Sends a request, again if that can help, and returns its successful response. */
export async function call(
  config: Config,
  anyMethod: string,
  path: string,
  options: RequestOptions = {},
): Promise<ApiResponse> {
  const method = anyMethod.toUpperCase();
  const deadline = new Deadline(options.timeout ?? config.timeout);
  const isRepeatable = method !== "POST" || REPEATABLE_POST.test(path);
  const url = config.baseUrl + path + toQuery(options.query);
  const init = buildInit(config, method, options);
  const seen: number[] = [];
  for (let tries = 1; ; tries += 1) {
    options.signal?.throwIfAborted();
    deadline.check();
    let error: EmailValidationError;
    let wait: number | null = isRepeatable ? backoff(tries) : null;
    try {
      const time = isRepeatable ? deadline.forOneTry : deadline.left;
      const response = await sendOnce(url, init, time, options.signal);
      // A page is from a proxy, whatever its status: the API has none.
      const isPage = response.headers.get("content-type")?.startsWith("text/html");
      if (response.status < 400 && !isPage) {
        return response;
      }
      error = errorFromResponse(response.status, response.data);
      wait = millisecondsToWait(response, error, isRepeatable, seen);
      seen.push(response.status);
    } catch (failure) {
      options.signal?.throwIfAborted();
      deadline.check();
      error = new ConnectionFailed(`The connection to ${config.baseUrl} failed.`, { cause: failure });
    }
    if (wait === null || wait >= deadline.left) {
      throw error;
    }
    await sleep(wait, options.signal);
  }
}

/** Opens a response whose body is read as it arrives, after the call's deadline, too. */
export async function openStream(
  config: Config,
  path: string,
  query: Query,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const response = await fetch(config.baseUrl + path + toQuery(query), {
    headers: config.headers,
    signal: signal ?? null,
  }).catch((failure: unknown) => {
    signal?.throwIfAborted();
    throw new ConnectionFailed(`The connection to ${config.baseUrl} failed.`, { cause: failure });
  });
  if (!response.ok) {
    throw errorFromResponse(response.status, await response.json().catch(() => null));
  }
  return response;
}

function buildInit(config: Config, method: string, options: RequestOptions): RequestInit {
  const headers: Record<string, string> = { ...options.headers, ...config.headers };
  let body: BodyInit | null = (options.body as BodyInit | undefined) ?? null;
  if (body === null && ["POST", "PUT", "PATCH"].includes(method)) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(options.json ?? {});
  }
  if (method === "POST") {
    // Made once, so that a retry is never charged again.
    headers["Idempotency-Key"] ??= options.idempotencyKey ?? crypto.randomUUID();
  }
  return { method, headers, body, redirect: "error" };
}

async function sendOnce(
  url: string,
  init: RequestInit,
  time: number,
  signal: AbortSignal | undefined,
): Promise<ApiResponse> {
  // Node.js 20 can lose signals that AbortSignal.any combines, and with them the deadline.
  const controller = new AbortController();
  const abort = () => controller.abort();
  // A timer can't be longer.
  const timer = setTimeout(abort, Math.min(time, 2 ** 31 - 1));
  signal?.addEventListener("abort", abort, { once: true });
  try {
    const response = await fetch(url, { ...init, signal: controller.signal });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json");
    const data: unknown = isJson && text ? JSON.parse(text) : null;
    return { status: response.status, headers: response.headers, data };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

function toQuery(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  return given.length
    ? `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
    : "";
}

/** Returns null if another try would get the same response, or could do something twice. */
function millisecondsToWait(
  response: ApiResponse,
  error: EmailValidationError,
  isRepeatable: boolean,
  seen: number[],
): number | null {
  const { status, headers } = response;
  const isRefused = status === 503 && (isRepeatable || error.details["charged"] === false);
  if (status === 429 || isRefused) {
    const asked = Number(error.details["retry_after"] ?? headers.get("retry-after") ?? 1);
    // Never earlier than asked, and not all waiting clients at the same moment.
    return (Number.isFinite(asked) ? asked : 1) * 1000 + Math.random() * 500;
  }
  return ONCE.includes(status) && !seen.includes(status) && isRepeatable ? backoff(1) : null;
}

/** A random pause, so that clients don't come back together after an outage. */
function backoff(tries: number): number {
  return Math.random() * Math.min(LONGEST_PAUSE_MS, 250 * 2 ** tries);
}

export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
