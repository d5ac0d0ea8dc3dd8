// The API with one key.

import { type ApiResponse, type Config, type RequestOptions, call, loadConfig, sleep } from "./call.js";
import { EmailValidationError, InvalidRequestError } from "./errors.js";
import { Lists } from "./lists.js";
import type { BatchResult, Credits, Domains as DomainLists, Event, Result, Usage } from "./types.js";

const BATCH_SIZE = 100;
const BATCH_TIMEOUT = 120_000;
const MAX_EMAIL_LENGTH = 320;
export const SIGN_UP_TIMEOUT = 3_000;
const REFUSED = "Please enter an email address that can receive mail.";

export interface ClientOptions {
  /** Defaults to the environment variable SVC_API_KEY. */
  apiKey?: string;
  /** Defaults to the environment variable SVC_BASE_URL. */
  baseUrl?: string;
  /** Milliseconds for a call with its retries. Defaults to 30,000. */
  timeout?: number;
}

export interface ValidateOptions {
  /** `mailbox` also asks the mail server, for up to `timeout_s` seconds. */
  check?: "mailbox";
  timeout_s?: number;
  timeout?: number;
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** Whether a form should accept an address, and what to show. It never names mailboxes. */
export interface SignUpCheck {
  accept: boolean;
  /** The address that was probably meant. */
  suggestion: string | null;
  /** An English sentence for the form. */
  message: string | null;
  /** Why the address wasn't checked, and therefore accepted. */
  failure?: EmailValidationError;
}

export class Client {
  readonly #config: Config;
  readonly lists: Lists;
  readonly events: Events;
  readonly domains: Domains;

  constructor({ apiKey, baseUrl, timeout = 30_000 }: ClientOptions = {}) {
    this.#config = loadConfig(apiKey, baseUrl, timeout);
    this.lists = new Lists(this.#config);
    this.events = new Events(this.#config);
    this.domains = new Domains(this.#config);
  }

  async validate(email: string, options: ValidateOptions = {}): Promise<Result> {
    const { check, timeout_s, ...given } = options;
    // A mailbox check needs enough time for one try of `timeout_s`.
    const needed = check === "mailbox" ? { timeout: 30_000 + 2_500 * (timeout_s ?? 10) } : {};
    const rest = { ...needed, ...given };
    // JSON leaves out what is undefined.
    const json = { email, check, timeout_s };
    return (await call(this.#config, "POST", "/v1/validate", { ...rest, json })).data;
  }

  /** Says whether a form should accept an address. If it can't be checked, it is accepted. */
  async signUpCheck(
    email: string,
    options: { timeout?: number; onFailure?: (error: EmailValidationError) => void } = {},
  ): Promise<SignUpCheck> {
    const { timeout = SIGN_UP_TIMEOUT, onFailure } = options;
    if (typeof email !== "string" || !email || [...email].length > MAX_EMAIL_LENGTH) {
      return { accept: false, suggestion: null, message: REFUSED };
    }
    try {
      return describeForForm(await this.validate(email, { timeout }));
    } catch (error) {
      if (!(error instanceof EmailValidationError)) {
        throw error;
      }
      onFailure?.(error);
      return { accept: true, suggestion: null, message: null, failure: error };
    }
  }

  /**
   * Validates any number of addresses in batches, in order. The timeout is for each batch.
   *
   * It waits for the rate limit, and keeps only one batch in memory.
   */
  async *validateMany(
    emails: Iterable<string> | AsyncIterable<string>,
    options: { check?: "mailbox"; timeout?: number; signal?: AbortSignal } = {},
  ): AsyncGenerator<BatchResult> {
    const { check, timeout = BATCH_TIMEOUT, signal } = options;
    let size = BATCH_SIZE;
    let pause = 0;
    for await (const chunk of inChunks(emails)) {
      for (let rest = chunk; rest.length; ) {
        const part = rest.slice(0, size);
        await sleep(pause, signal);
        try {
          const json = { emails: part, check };
          const response = await this.request("POST", "/v1/validate/batch", { json, timeout, signal });
          yield* response.data.results;
          pause = pauseBefore(Math.min(size, BATCH_SIZE), response.headers);
          rest = rest.slice(part.length);
        } catch (error) {
          const limit = error instanceof InvalidRequestError ? error.details["limit"] : null;
          if (!(limit >= 1) || (error as EmailValidationError).code !== "batch_larger_than_limit") {
            throw error;
          }
          size = Math.min(limit, part.length - 1);
        }
      }
    }
  }

  async credits(): Promise<Credits> {
    return (await this.request("GET", "/v1/credits")).data;
  }

  /** Returns the usage of each day, by default of the last 30. */
  async usage(
    query: { from?: string; to?: string; key?: string; source?: "api" | "playground" | "lists" } = {},
  ): Promise<Usage> {
    return (await this.request("GET", "/v1/usage", { query })).data;
  }

  /** Calls any operation, with the same retries as the other methods. */
  request(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    return call(this.#config, method, path, options);
  }
}

export class Events {
  readonly #config: Config;

  constructor(config: Config) {
    this.#config = config;
  }

  /**
   * Yields the events after the one with the ID `after`, the oldest first.
   *
   * With `follow`, it waits for new ones and doesn't end. Several types: separated by commas.
   */
  async *iterate(
    options: {
      after?: string;
      type?: string;
      follow?: boolean;
      interval?: number;
      signal?: AbortSignal;
    } = {},
  ): AsyncGenerator<Event> {
    const { type, follow = false, interval = 2_000, signal } = options;
    let after = options.after ?? "";
    for (;;) {
      const query = { after, limit: 100, type };
      const { data } = await call(this.#config, "GET", "/v1/events", { query, signal });
      for (const event of data.data as Event[]) {
        yield event;
        after = event.id;
      }
      if (!data.has_more && !follow) {
        return;
      }
      await sleep(data.has_more ? 0 : interval, signal);
    }
  }
}

export class Domains {
  readonly #config: Config;

  constructor(config: Config) {
    this.#config = config;
  }

  async get(): Promise<DomainLists> {
    return (await call(this.#config, "GET", "/v1/domains")).data;
  }

  async replace(json: DomainLists): Promise<DomainLists> {
    return (await call(this.#config, "PUT", "/v1/domains", { json })).data;
  }

  /** Adds domains, and keeps what other programs change at the same time. */
  allow(...domains: string[]): Promise<DomainLists> {
    return this.#add("allowed", domains);
  }

  /** Adds domains, and keeps what other programs change at the same time. */
  deny(...domains: string[]): Promise<DomainLists> {
    return this.#add("denied", domains);
  }

  async #add(list: "allowed" | "denied", domains: string[]): Promise<DomainLists> {
    for (;;) {
      const { data, headers } = await call(this.#config, "GET", "/v1/domains");
      const json = { ...data, [list]: [...new Set([...data[list], ...domains])] };
      const ifMatch = { "If-Match": headers.get("etag") ?? "*" };
      try {
        return (await call(this.#config, "PUT", "/v1/domains", { json, headers: ifMatch })).data;
      } catch (error) {
        // 412: the lists were changed since they were read.
        if (!(error instanceof EmailValidationError && error.status === 412)) {
          throw error;
        }
      }
    }
  }
}

function describeForForm(result: Result): SignUpCheck {
  const suggestion = result.did_you_mean;
  // What a mail server said about a mailbox is nobody's business but its owner's.
  if (!result.accept_for_signup && result.evidence !== "smtp") {
    return { accept: false, suggestion, message: result.syntax_error?.message ?? REFUSED };
  }
  return { accept: true, suggestion, message: suggestion && `Did you mean ${suggestion}?` };
}

/** Returns the milliseconds until the limit has room again, read from `"account";r=57;t=12`. */
function pauseBefore(count: number, headers: Headers): number {
  const found = /;\s*r=(\d+);\s*t=(\d+)/.exec(headers.get("ratelimit") ?? "");
  return found && Number(found[1]) < count ? Number(found[2]) * 1000 : 0;
}

async function* inChunks(
  emails: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<string[]> {
  let chunk: string[] = [];
  for await (const email of emails) {
    chunk.push(email);
    if (chunk.length === BATCH_SIZE) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length) {
    yield chunk;
  }
}
