// Verify webhooks, which are signed by Standard Webhooks 1.0.

import type { Event } from "./types.js";

/** The request doesn't come from the API, was changed, or is too old: respond with 400. */
export class InvalidSignature extends Error {
  override name = "InvalidSignature";
}

export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>;

/**
 * Returns the event, if one of the signatures is right and the time within the tolerance.
 *
 * `secret` is the webhook's secret (`whsec_…`) or its public key (`whpk_…`). Pass the body as it
 * arrived: parsing changes it.
 */
export async function verify(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  { tolerance = 300 }: { tolerance?: number | undefined } = {},
): Promise<Event> {
  const id = read(headers, "webhook-id");
  const sentAt = read(headers, "webhook-timestamp");
  const signatures = read(headers, "webhook-signature").split(" ");
  if (!(Math.abs(Date.now() / 1000 - Number(sentAt)) <= tolerance)) {
    throw new InvalidSignature("The request is too old, or the clock of this machine is wrong.");
  }
  const isPublic = secret.startsWith("whpk_");
  const version = isPublic ? "v1a," : "v1,";
  const algorithm = isPublic ? { name: "Ed25519" } : { name: "HMAC", hash: "SHA-256" };
  const raw = decode(secret.replace(/^wh(sec|pk)_/, ""));
  if (!raw) {
    throw new TypeError("The secret isn't one: it starts with whsec_, or a public key with whpk_.");
  }
  const key = await crypto.subtle.importKey("raw", raw, algorithm, false, ["verify"]);
  const signed = await new Blob([`${id}.${sentAt}.`, body as BlobPart]).arrayBuffer();
  for (const signature of signatures) {
    const data = signature.startsWith(version) ? decode(signature.slice(version.length)) : null;
    // crypto.subtle.verify takes the same time whichever byte differs.
    if (data && (await crypto.subtle.verify(algorithm.name, key, data, signed))) {
      return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body)) as Event;
    }
  }
  throw new InvalidSignature("No signature fits this body and secret.");
}

function read(headers: WebhookHeaders, wanted: string): string {
  const all = headers instanceof Headers ? headers.entries() : Object.entries(headers);
  for (const [name, value] of all) {
    if (name.toLowerCase() === wanted && typeof value === "string") {
      return value;
    }
  }
  throw new InvalidSignature(`The request has no header ${wanted}.`);
}

function decode(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}
