// Files of addresses: upload, wait, download.

import { type ApiResponse, type Config, type RequestOptions, call, openStream, sleep } from "./call.js";
import { DeadlineExceeded, ListFailed } from "./errors.js";
import type { AddressList, ListPreview, ListSample } from "./types.js";

export const PART_BYTES = 8_000_000;
const PART_TIMEOUT = 300_000;
const MAX_WAIT_S = 20;

/** The path of a file, a Blob, or addresses. */
export type Source = string | Blob | Iterable<string>;

export interface ListOptions {
  name?: string;
  /** A name in the header, or a number from 0. Without it, the column is found. */
  column?: string | number;
  /** Defaults to true. */
  start?: boolean;
  encoding?: string;
  delimiter?: string;
  header?: boolean;
  dedupe?: "address" | "mailbox" | "off";
  extract?: boolean;
  check?: "mailbox";
  max_credits?: number;
  recheck_unknown?: boolean;
  metadata?: Record<string, string>;
  /** Called with the bytes that are sent, and with how many there are. */
  onProgress?: (done: number, total: number) => void;
}

export interface DownloadOptions {
  format?: "csv" | "xlsx" | "jsonl";
  filter?: "all" | "safe" | "deliverable" | "risky" | "undeliverable" | "unknown";
  columns?: string[];
  formulas?: "defuse" | "keep";
  partial?: boolean;
  signal?: AbortSignal;
}

type Named = AddressList | string;

export class Lists {
  readonly #config: Config;

  constructor(config: Config) {
    this.#config = config;
  }

  /** Uploads a file, or addresses, and starts the list unless `start` is false. */
  async create(source: Source, options: ListOptions = {}): Promise<AddressList> {
    const { column, start = true, onProgress, name, ...rest } = options;
    if (typeof source !== "string" && !(source instanceof Blob)) {
      return this.#post("", { ...rest, ...(name ? { name } : {}), emails: [...source], start });
    }
    // A named column is looked up in the file's header before anything is started.
    const isNamed = typeof column === "string";
    const title = name ?? (typeof source === "string" ? source.split(/[\\/]/).pop() : "Upload");
    const body = { ...rest, name: title, parts: true, start: start && !isNamed };
    const created = await this.#post("", isNamed || column === undefined ? body : { ...body, column });
    const uploaded = await this.upload(created.id, source, onProgress ? { onProgress } : {});
    if (start && isNamed) {
      return this.start(created.id, { column: await this.findColumn(created.id, column) });
    }
    return uploaded;
  }

  /** Sends the parts of a file that aren't stored yet. After an interruption, it continues. */
  async upload(
    id: string,
    source: string | Blob,
    { onProgress }: { onProgress?: (done: number, total: number) => void } = {},
  ): Promise<AddressList> {
    const stored = await this.#storedParts(id);
    const file = typeof source === "string" ? await openFile(source) : source;
    for (let number = 1, done = 0; done < file.size; number += 1) {
      const body = new Uint8Array(await file.slice(done, done + PART_BYTES).arrayBuffer());
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
      if (stored.get(number) !== toHex(digest)) {
        const headers = {
          "Content-Type": "application/octet-stream",
          "Content-Digest": `sha-256=:${btoa(String.fromCharCode(...digest))}:`,
        };
        await this.#call("PUT", `/${id}/parts/${number}`, { body, headers, timeout: PART_TIMEOUT });
      }
      done += body.length;
      onProgress?.(done, file.size);
    }
    return this.#post(`/${id}/parse`);
  }

  /** Returns the number of the column with this name in the header. */
  async findColumn(id: string, name: string): Promise<number> {
    await this.wait(id, { until: "ready" });
    const header = (await this.preview(id)).header ?? [];
    const wanted = name.trim().toLowerCase();
    const found = header.findIndex((title) => title.trim().toLowerCase() === wanted);
    if (found === -1) {
      const names = header.join(", ") || "no header";
      throw new RangeError(`The file has no column "${name}". Its columns: ${names}.`);
    }
    return found;
  }

  /** Returns the list, or waits up to 20 seconds for another state. */
  async get(
    id: string,
    { wait, signal }: { wait?: number; signal?: AbortSignal | undefined } = {},
  ): Promise<AddressList> {
    // One try must be longer than the wait.
    const timeout = wait === undefined ? undefined : (4 * wait + 30) * 1000;
    return (await this.#call("GET", `/${id}`, { query: { wait }, timeout, signal })).data;
  }

  /** Yields all lists, the newest first. */
  async *all({ state }: { state?: string } = {}): AsyncGenerator<AddressList> {
    let after: string | null = null;
    do {
      const query = { limit: 100, starting_after: after, state };
      const page: ApiResponse = await this.#call("GET", "", { query });
      yield* page.data.data;
      after = page.data.next;
    } while (after);
  }

  /**
   * Waits until the list is `ready` to start, has `results`, or is `completed`.
   *
   * With `results`, each address has one, while unknown ones may still be checked again.
   */
  async wait(
    list: Named,
    options: {
      until?: "ready" | "results" | "completed";
      timeout?: number;
      onProgress?: (list: AddressList) => void;
      signal?: AbortSignal;
    } = {},
  ): Promise<AddressList> {
    const { until = "results", timeout = Infinity, onProgress, signal } = options;
    const end = performance.now() + timeout;
    for (;;) {
      signal?.throwIfAborted();
      const left = Math.max(0, end - performance.now()) / 1000;
      const current = await this.get(idOf(list), {
        wait: Math.floor(Math.min(MAX_WAIT_S, left)),
        signal,
      });
      onProgress?.(current);
      const isOver = ["failed", "canceled", "expired"].includes(current.state);
      if (isOver || (current.error && !current.results_at)) {
        throw new ListFailed(current.error?.message ?? `The list is ${current.state}.`, {
          code: current.error?.code ?? current.state,
          details: { list: current },
        });
      }
      if (hasReached(current, until)) {
        return current;
      }
      if (performance.now() >= end) {
        throw new DeadlineExceeded(`The list ${current.id} is ${current.state} after ${timeout} ms.`);
      }
      if (!["uploading", "parsing", "queued", "running"].includes(current.state)) {
        await sleep(1000, signal);
      }
    }
  }

  /** Options: `column`, `max_credits`, `encoding`, `extract`, `check`, `confirm`. */
  start = (list: Named, options: Record<string, unknown> = {}) =>
    this.#post(`/${idOf(list)}/start`, options);

  pause = (list: Named) => this.#post(`/${idOf(list)}/pause`);
  resume = (list: Named) => this.#post(`/${idOf(list)}/resume`);
  cancel = (list: Named) => this.#post(`/${idOf(list)}/cancel`);
  /** Completes the list without checking unknown addresses again. */
  finish = (list: Named) => this.#post(`/${idOf(list)}/finish`);

  async delete(list: Named): Promise<void> {
    await this.#call("DELETE", `/${idOf(list)}`);
  }

  async preview(list: Named): Promise<ListPreview> {
    return (await this.#call("GET", `/${idOf(list)}/preview`)).data;
  }

  /** Checks 200 random addresses for free. */
  async sample(list: Named): Promise<ListSample> {
    return (await this.#call("POST", `/${idOf(list)}/sample`, { timeout: 120_000 })).data;
  }

  /** Returns the rows with their results, as a stream. */
  async open(list: Named, options: DownloadOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const { columns = [], signal, ...rest } = options;
    const query = { ...rest, columns: columns.join(",") || null };
    const path = `/v1/lists/${idOf(list)}/download`;
    return (await openStream(this.#config, path, query, signal)).body!;
  }

  /** Writes the rows with their results to a file, which appears when it is complete. */
  async download(list: Named, to: string, options: DownloadOptions = {}): Promise<void> {
    const { createWriteStream } = await import("node:fs");
    const { rename, rm } = await import("node:fs/promises");
    const { pipeline } = await import("node:stream/promises");
    const temporary = `${to}.${crypto.randomUUID().slice(0, 8)}.part`;
    try {
      // The same class, with a type of its own in Node.js.
      const rows = (await this.open(list, options)) as unknown as AsyncIterable<Uint8Array>;
      await pipeline(rows, createWriteStream(temporary, { flags: "wx" }));
      await rename(temporary, to);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async #storedParts(id: string): Promise<Map<number, string>> {
    const stored = new Map<number, string>();
    for (let after: number | null = null; ; ) {
      const query = { limit: 1000, starting_after: after };
      const { data } = await this.#call("GET", `/${id}/parts`, { query });
      for (const part of data.data) {
        stored.set(part.number, part.sha256);
        after = part.number;
      }
      if (!data.has_more) {
        return stored;
      }
    }
  }

  async #post(path: string, json: unknown = {}): Promise<AddressList> {
    return (await this.#call("POST", path, { json, timeout: 120_000 })).data;
  }

  #call(method: string, path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    return call(this.#config, method, `/v1/lists${path}`, options);
  }
}

async function openFile(path: string): Promise<Blob> {
  const { openAsBlob } = await import("node:fs");
  return openAsBlob(path);
}

function idOf(list: Named): string {
  return typeof list === "string" ? list : list.id;
}

function hasReached(list: AddressList, until: "ready" | "results" | "completed"): boolean {
  if (until === "ready") {
    return !["uploading", "parsing"].includes(list.state);
  }
  return until === "results" ? list.results_at !== null : list.state === "completed";
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
