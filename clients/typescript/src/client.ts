// The API with one key.

import { type Options, type Send, call, readObject, sleep } from "./call.js";
import { loadConfig } from "./config.js";
import { Domains } from "./domains.js";
import { EmailValidationError, textOf } from "./errors.js";
import { Events } from "./events.js";
import { Lists } from "./lists.js";
import type { BatchResult, Credits, Result, Usage } from "./types.js";

const BATCH_SIZE = 100;
const MAX_EMAIL_LENGTH = 320;
const REFUSED = "Please enter an email address that can receive mail.";

export type ClientOptions = Options<{
  /** Defaults to the environment variable SVC_API_KEY. */
  apiKey: string;
  /** Defaults to the environment variable SVC_BASE_URL. */
  baseUrl: string;
  /** Milliseconds for a call with its retries. Defaults to 30,000. */
  timeout: number;
}>;

export type ValidateOptions = Options<{
  /** `mailbox` also asks the mail server, for up to `timeout_s` seconds. */
  check: "mailbox";
  timeout_s: number;
  timeout: number;
  idempotencyKey: string;
  signal: AbortSignal;
}>;

export type SignUpCheckOptions = Options<{
  /** Milliseconds for the check. Defaults to 3,000. */
  timeout: number;
  /** Called with the reason if the address wasn't checked, and awaited. */
  onFailure: (error: EmailValidationError) => unknown;
}>;

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
  readonly lists: Lists;
  readonly events: Events;
  readonly domains: Domains;
  /** Calls any operation, with the same retries as the other methods. */
  readonly request: Send;

  constructor({ apiKey, baseUrl, timeout }: ClientOptions = {}) {
    const config = loadConfig(apiKey, baseUrl, timeout);
    // Only this function knows the key, so that a client can be printed.
    this.request = (method, path, options = {}) => call(config, method, path, options);
    this.lists = new Lists(this.request);
    this.events = new Events(this.request);
    this.domains = new Domains(this.request);
  }

  async validate(email: string, options: ValidateOptions = {}): Promise<Result> {
    const { check, timeout_s, ...rest } = options;
    // A mailbox check needs enough time for one try of `timeout_s`.
    const timeout = rest.timeout ?? (check && 30_000 + 2_500 * (timeout_s ?? 10));
    // JSON leaves out what is undefined.
    const json = { email, check, timeout_s };
    return readObject(await this.request("POST", "/v1/validate", { ...rest, timeout, json }));
  }

  /** Says whether a form should accept an address. If it can't be checked, it is accepted. */
  async signUpCheck(email: string, options: SignUpCheckOptions = {}): Promise<SignUpCheck> {
    const { timeout = 3_000, onFailure } = options;
    if (typeof email !== "string" || !email || [...email].length > MAX_EMAIL_LENGTH) {
      return { accept: false, suggestion: null, message: REFUSED };
    }
    try {
      return describeForForm(await this.validate(email, { timeout }));
    } catch (error) {
      if (!(error instanceof EmailValidationError)) {
        throw error;
      }
      await onFailure?.(error);
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
    options: Options<{ check: "mailbox"; timeout: number; signal: AbortSignal }> = {},
  ): AsyncGenerator<BatchResult> {
    const { check, timeout = 120_000, signal } = options;
    let size = BATCH_SIZE;
    let pause = 0;
    for await (const chunk of inChunks(emails)) {
      for (let rest = chunk; rest.length; ) {
        const part = rest.slice(0, size);
        await sleep(pause, signal);
        try {
          const json = { emails: part, check };
          const response = await this.request("POST", "/v1/validate/batch", { json, timeout, signal });
          yield* readObject(response, "results").results;
          pause = pauseBefore(size, response.headers);
          rest = rest.slice(part.length);
        } catch (error) {
          const isTooLarge =
            error instanceof EmailValidationError && error.code === "batch_larger_than_limit";
          const limit = isTooLarge ? error.details["limit"] : null;
          if (!(limit >= 1 && limit < part.length)) {
            throw error;
          }
          size = limit;
        }
      }
    }
  }

  async credits(): Promise<Credits> {
    return readObject(await this.request("GET", "/v1/credits"));
  }

  /** Returns the usage of each day, by default of the last 30. */
  async usage(
    query: Options<{ from: string; to: string; key: string; source: "api" | "playground" | "lists" }> = {},
  ): Promise<Usage> {
    return readObject(await this.request("GET", "/v1/usage", { query }));
  }
}

function describeForForm(result: Result): SignUpCheck {
  const suggestion = textOf(result.did_you_mean);
  // Don't reveal to visitors whether a mailbox exists.
  // A response without a decision isn't a refusal.
  if (result.accept_for_signup === false && result.evidence !== "smtp") {
    return { accept: false, suggestion, message: textOf(result.syntax_error?.message) ?? REFUSED };
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
    if (chunk.push(email) === BATCH_SIZE) {
      yield chunk;
      chunk = [];
    }
  }
  yield chunk;
}
