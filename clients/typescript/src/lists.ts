// Files of addresses: upload, wait, download.

import { type Options, type RequestOptions, type Send, readObject, sleep } from "./call.js";
import { DeadlineExceeded, ListFailed } from "./errors.js";
import type {
  AddressList,
  AddressListPage,
  AddressListRequest,
  ListPart,
  ListPreview,
  ListSample,
  ListStart,
} from "./types.js";

const PART_BYTES = 8_000_000;
const PART_TIMEOUT = 300_000;
const MAX_WAIT_S = 20;

/** The path of a file, a Blob, or addresses. */
export type Source = string | Blob | Iterable<string>;

export type UploadOptions = Options<{
  /** Called with the bytes that are sent, and with how many there are. */
  onProgress: (done: number, total: number) => void;
}>;

export type ListOptions = Omit<AddressListRequest, "column" | "emails" | "parts"> &
  UploadOptions &
  Options<{
    /** A name in the header, or a number from 0. Without it, the column is found. */
    column: string | number;
  }>;

export type WaitOptions = Options<{
  until: "ready" | "results" | "completed";
  timeout: number;
  onProgress: (list: AddressList) => void;
  signal: AbortSignal;
}>;

export type DownloadOptions = Options<{
  format: "csv" | "xlsx" | "jsonl";
  filter: "all" | "safe" | "deliverable" | "risky" | "undeliverable" | "unknown";
  columns: string[];
  formulas: "defuse" | "keep";
  partial: boolean;
  /** Milliseconds until the rows begin. Defaults to the client's. */
  timeout: number;
  signal: AbortSignal;
}>;

type Named = AddressList | string;

export class Lists {
  constructor(private readonly send: Send) {}

  /** Uploads a file, or addresses, and starts the list unless `start` is false. */
  async create(source: Source, options: ListOptions = {}): Promise<AddressList> {
    const { column, start = true, onProgress, ...rest } = options;
    if (typeof source !== "string" && !(source instanceof Blob)) {
      return this.#post("", { ...rest, emails: [...source], start });
    }
    const name = rest.name ?? (typeof source === "string" ? source.split(/[\\/]/).pop() : "Upload");
    // A named column is looked up in the file's header before anything is started.
    const isNamed = typeof column === "string";
    const choice = isNamed ? { start: false } : { start, column };
    const { id } = await this.#post("", { ...rest, ...choice, name, parts: true });
    const uploaded = await this.upload(id, source, { onProgress });
    if (!isNamed || !start) {
      return uploaded;
    }
    return this.start(id, { column: await this.findColumn(id, column) });
  }

  /** Sends the parts of a file that aren't stored yet. After an interruption, it continues. */
  async upload(
    id: string,
    source: string | Blob,
    { onProgress }: UploadOptions = {},
  ): Promise<AddressList> {
    // A page has more parts than the largest file.
    const { data } = await this.#call("GET", `/${id}/parts`, {}, "data");
    const stored = new Set((data as ListPart[]).map((part) => `${part.number} ${part.sha256}`));
    const file =
      typeof source === "string" ? await (await import("node:fs")).openAsBlob(source) : source;
    for (let number = 1, done = 0; done < file.size; number += 1) {
      const body = new Uint8Array(await file.slice(done, done + PART_BYTES).arrayBuffer());
      const digest = [...new Uint8Array(await crypto.subtle.digest("SHA-256", body))];
      const hex = digest.map((byte) => byte.toString(16).padStart(2, "0")).join("");
      if (!stored.has(`${number} ${hex}`)) {
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
    options: Options<{ wait: number; timeout: number; signal: AbortSignal }> = {},
  ): Promise<AddressList> {
    const { wait, signal } = options;
    // One try must be longer than the wait.
    const timeout = options.timeout ?? (wait ? 4_000 * wait + 30_000 : undefined);
    return this.#call("GET", `/${id}`, { query: { wait }, timeout, signal });
  }

  /** Yields all lists, the newest first. */
  async *all({ state }: Options<{ state: string }> = {}): AsyncGenerator<AddressList> {
    let after: string | null = null;
    do {
      const query = { limit: 100, starting_after: after, state };
      const page: AddressListPage = await this.#call("GET", "", { query }, "data");
      yield* page.data;
      after = page.next;
    } while (after);
  }

  /**
   * Waits until the list is `ready` to start, has `results`, or is `completed`.
   *
   * With `results`, each address has one, while unknown ones may still be checked again.
   */
  async wait(list: Named, options: WaitOptions = {}): Promise<AddressList> {
    const { until = "results", timeout = Infinity, onProgress, signal } = options;
    const end = performance.now() + timeout;
    for (;;) {
      const left = Math.max(0, end - performance.now());
      const wait = Math.floor(Math.min(MAX_WAIT_S, left / 1000));
      // The last look has a second, also when the time is over.
      const most = Math.min(4_000 * wait + 30_000, Math.max(1_000, left));
      const current = await this.get(idOf(list), { wait, timeout: most, signal });
      onProgress?.(current);
      const isOver = ["failed", "canceled", "expired"].includes(current.state);
      if (isOver || (current.error && !current.results_at)) {
        throw new ListFailed(current.error?.message ?? `The list is ${current.state}.`, {
          code: current.error?.code ?? current.state,
          details: { list: current },
        });
      }
      const reached = {
        ready: !["uploading", "parsing"].includes(current.state),
        results: Boolean(current.results_at),
        completed: current.state === "completed",
      };
      if (reached[until]) {
        return current;
      }
      if (performance.now() >= end) {
        throw new DeadlineExceeded(`The list ${current.id} is ${current.state} after ${timeout} ms.`);
      }
      // The API responds at once to a wait of 0.
      if (!wait || !["uploading", "parsing", "queued", "running"].includes(current.state)) {
        await sleep(Math.min(1_000, Math.max(0, end - performance.now())), signal);
      }
    }
  }

  start = (list: Named, options: ListStart = {}) => this.#post(`/${idOf(list)}/start`, options);
  pause = (list: Named) => this.#post(`/${idOf(list)}/pause`);
  resume = (list: Named) => this.#post(`/${idOf(list)}/resume`);
  cancel = (list: Named) => this.#post(`/${idOf(list)}/cancel`);
  /** Completes the list without checking unknown addresses again. */
  finish = (list: Named) => this.#post(`/${idOf(list)}/finish`);

  async delete(list: Named): Promise<void> {
    await this.send("DELETE", `/v1/lists/${idOf(list)}`);
  }

  async preview(list: Named): Promise<ListPreview> {
    return this.#call("GET", `/${idOf(list)}/preview`);
  }

  /** Checks 200 random addresses for free. */
  async sample(list: Named): Promise<ListSample> {
    return this.#call("POST", `/${idOf(list)}/sample`, { timeout: 120_000 });
  }

  /** Returns the rows with their results, as a stream. */
  async open(list: Named, options: DownloadOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const { columns, timeout, signal, ...rest } = options;
    const query = { ...rest, columns: columns?.join(",") || null };
    const given = { query, timeout, signal, stream: true };
    return this.#call("GET", `/${idOf(list)}/download`, given);
  }

  /** Writes the rows with their results to a file, which appears when it is complete. */
  async download(list: Named, to: string, options: DownloadOptions = {}): Promise<void> {
    const { rename, rm, writeFile } = await import("node:fs/promises");
    const temporary = `${to}.${crypto.randomUUID().slice(0, 8)}.part`;
    try {
      await writeFile(temporary, await this.open(list, options), { flag: "wx" });
      await rename(temporary, to);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  #post(path: string, json: unknown = {}): Promise<AddressList> {
    return this.#call("POST", path, { json, timeout: 120_000 });
  }

  async #call(method: string, path: string, options?: RequestOptions, array?: string): Promise<any> {
    return readObject(await this.send(method, `/v1/lists${path}`, options), array);
  }
}

function idOf(list: Named): string {
  return typeof list === "string" ? list : list.id;
}
