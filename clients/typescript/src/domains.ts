import { type Send, readObject } from "./call.js";
import { EmailValidationError } from "./errors.js";
import type { Domains as DomainLists } from "./types.js";

const PATH = "/v1/domains";

export class Domains {
  constructor(private readonly send: Send) {}

  async get(): Promise<DomainLists> {
    return readObject(await this.send("GET", PATH));
  }

  async replace(json: DomainLists): Promise<DomainLists> {
    return readObject(await this.send("PUT", PATH, { json }));
  }

  /** Adds domains, and keeps what other programs change at the same time. */
  allow = (...domains: string[]): Promise<DomainLists> => this.#add("allowed", domains);

  /** Adds domains, and keeps what other programs change at the same time. */
  deny = (...domains: string[]): Promise<DomainLists> => this.#add("denied", domains);

  async #add(list: "allowed" | "denied", domains: string[]): Promise<DomainLists> {
    for (;;) {
      const response = await this.send("GET", PATH);
      const stored: DomainLists = readObject(response);
      const json = { ...stored, [list]: [...new Set([...stored[list], ...domains])] };
      const headers = { "If-Match": response.headers.get("etag") ?? "*" };
      try {
        return readObject(await this.send("PUT", PATH, { json, headers }));
      } catch (error) {
        // 412: the lists were changed since they were read.
        if (!(error instanceof EmailValidationError && error.status === 412)) {
          throw error;
        }
      }
    }
  }
}
