// Which API is called, and with which key.

import { ConfigurationError } from "./errors.js";

const VERSION = "1.0.0";

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
  const host = findHost(url);
  if (!host) {
    throw new ConfigurationError(
      "The base URL is missing or isn't a URL. Set SVC_BASE_URL, " +
        "for example to https://api.example.com.",
    );
  }
  if (/^http:/i.test(url) && !/^(localhost|.+\.localhost|127\.[\d.]+|\[::1\])$/.test(host)) {
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

/** Returns the host, or nothing if this isn't a URL that the client can use. */
function findHost(url: string): string {
  try {
    const { protocol, hostname, username, password } = new URL(url);
    // A password would be in error messages.
    return /^https?:$/.test(protocol) && !username && !password ? hostname : "";
  } catch {
    return "";
  }
}
