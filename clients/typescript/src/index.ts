export {
  Client,
  type ClientOptions,
  type SignUpCheck,
  type SignUpCheckOptions,
  type ValidateOptions,
} from "./client.js";
export type { ApiResponse, Query, RequestOptions } from "./call.js";
export type { DownloadOptions, ListOptions, Source, UploadOptions, WaitOptions } from "./lists.js";
export * from "./errors.js";
export type * from "./types.js";
export * as webhooks from "./webhooks.js";
