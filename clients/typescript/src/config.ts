// Which API is called, and with which key.

import { ConfigurationError } from "./errors.js";

const VERSION = "1.0.0";

export interface Config {
  baseUrl: string;
  headers: Record<string, string>;
  timeout: number;
}

export function loadConfig(apiKey?: string, baseUrl?: string, timeout = 30_000): Config {
  const environment = typeof process === "undefined" ? {} : process.env;
  const key = apiKey ?? environment["SVC_API_KEY"] ?? "";
  const url = (baseUrl ?? environment["SVC_BASE_URL"] ?? "").replace(/\/+$/, "").replace(/\/v1$/, "");
  const problem = findProblem(key, url);
  if (problem) {
    throw new ConfigurationError(problem);
  }
  const headers = {
    Authorization: `Bearer ${key}`,
    "User-Agent": `emailvalidation-typescript/${VERSION}`,
  };
  return { baseUrl: url, headers, timeout };
}

function findProblem(key: string, url: string): string | null {
  if (typeof window !== "undefined" && typeof document !== "undefined") {
    return (
      "API keys belong on servers: a browser shows them to every visitor. " +
      "Call a route of your own instead, as emailvalidation/server does."
    );
  }
  if (!key) {
    return "The API key is missing. Create one under Settings, and set SVC_API_KEY.";
  }
  if (!/^svc_live_[0-9A-Za-z]{38}$/.test(key)) {
    return (
      "This isn't an API key: keys have 47 characters and start with svc_live_. " +
      "Copy it again, without quotes and spaces."
    );
  }
  const parts = URL.canParse(url) ? new URL(url) : null;
  // A password would be in error messages.
  if (!parts || !/^https?:$/.test(parts.protocol) || parts.username || parts.password) {
    return (
      "The base URL is missing or can't be used. Set SVC_BASE_URL, " +
      "for example to https://api.example.com."
    );
  }
  const isHere = /^(localhost|.+\.localhost|127\.[\d.]+|\[::1\])$/.test(parts.hostname);
  if (parts.protocol === "http:" && !isHere) {
    return `The base URL ${url} would send the API key unencrypted. Use https://.`;
  }
  return null;
}
