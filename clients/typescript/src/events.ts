import { type Options, type Send, readObject, sleep } from "./call.js";
import type { Event } from "./types.js";

export class Events {
  constructor(private readonly send: Send) {}

  /**
   * Yields the events after the one with the ID `after`, the oldest first.
   *
   * With `follow`, it waits for new ones and doesn't end. Several types: separated by commas.
   */
  async *iterate(
    options: Options<{
      after: string;
      type: string;
      follow: boolean;
      interval: number;
      signal: AbortSignal;
    }> = {},
  ): AsyncGenerator<Event> {
    const { type, follow, interval = 2_000, signal } = options;
    for (let after = options.after; ; ) {
      const query = { after, limit: 100, type };
      const page = readObject(await this.send("GET", "/v1/events", { query, signal }), "data");
      for (const event of page.data as Event[]) {
        yield event;
        after = event.id;
      }
      if (!page.has_more && !follow) {
        return;
      }
      await sleep(page.has_more ? 0 : interval, signal);
    }
  }
}
