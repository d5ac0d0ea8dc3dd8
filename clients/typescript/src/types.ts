// The objects of requests and responses, written by `python -m tools.client_types` from openapi.json.

export interface AddressListRequest {
  encoding?: string | undefined;
  extract?: boolean | undefined;
  max_credits?: number | null | undefined;
  check?: "dns" | "mailbox" | (string & {}) | undefined;
  metadata?: Record<string, any> | undefined;
  name?: string | undefined;
  emails?: string[] | undefined;
  parts?: boolean | undefined;
  column?: number | null | undefined;
  header?: boolean | null | undefined;
  delimiter?: string | undefined;
  dedupe?: "address" | "mailbox" | "off" | (string & {}) | undefined;
  recheck_unknown?: boolean | undefined;
  start?: boolean | undefined;
}

export interface ListStart {
  encoding?: string | undefined;
  extract?: boolean | undefined;
  max_credits?: number | null | undefined;
  check?: "dns" | "mailbox" | (string & {}) | undefined;
  column?: number | null | undefined;
  confirm?: boolean | undefined;
}

export interface RateLimit {
  limit: number;
  window: number;
}

export interface Checks {
  syntax: boolean | null;
  domain_exists: boolean | null;
  accepts_mail: boolean | null;
  null_mx: boolean | null;
  disposable: boolean | null;
  free_provider: boolean | null;
  relay: boolean | null;
  role_account: boolean | null;
  no_reply: boolean | null;
  has_tag: boolean | null;
  reserved_domain: boolean | null;
  smtputf8_required: boolean | null;
  mixed_script: boolean | null;
  accept_all: boolean | null;
  mailbox_exists: boolean | null;
  mailbox_full: boolean | null;
  mailbox_disabled: boolean | null;
  machine_address: boolean | null;
  placeholder: boolean | null;
}

export interface SyntaxProblem {
  code: string;
  message: string;
}

export interface MxRecord {
  preference: number;
  host: string;
}

export interface Mx {
  provider: string | null;
  fallback: "a" | "aaaa" | (string & {}) | null;
  gateway: boolean | null;
  ipv4: boolean | null;
  records: MxRecord[];
}

export interface DomainAuth {
  spf: "none" | "soft" | "strict" | "denies_all" | (string & {}) | null;
  dmarc: "none" | "quarantine" | "reject" | (string & {}) | null;
}

export interface Smtp {
  state: "pending" | "done" | "skipped" | (string & {});
  host: string | null;
  stage: "connect" | "ehlo" | "starttls" | "mail" | "rcpt" | (string & {}) | null;
  code: number | null;
  status: string | null;
  message: string | null;
  tls: boolean | null;
  control: "accepted" | "refused" | "unclear" | (string & {}) | null;
  probed_at: string | null;
  attempts: number | null;
  skipped: "decided" | "provider_hides" | "opted_out" | "harvest_guard" | "cooling_down" | (string & {}) | null;
}

export interface ConsultedLists {
  disposable: string;
  disposable_by: "domain" | "mx" | (string & {}) | null;
}

export interface ResultCredits {
  charged: number;
  held: number;
  remaining: number;
}

export interface Result {
  id: string;
  created_at: string;
  sandbox: boolean;
  email: string;
  normalized: string | null;
  canonical: string | null;
  verdict: "deliverable" | "risky" | "undeliverable" | "unknown" | (string & {});
  reason: string;
  reasons: string[];
  score: number | null;
  evidence: "syntax" | "dns" | "smtp" | (string & {});
  safe_to_send: boolean | null;
  accept_for_signup: boolean;
  did_you_mean: string | null;
  lookalike_of: string | null;
  retry_after_s: number | null;
  local_part: string | null;
  tag: string | null;
  domain: string | null;
  ascii_domain: string | null;
  registrable_domain: string | null;
  checks: Checks;
  syntax_error: SyntaxProblem | null;
  mx: Mx;
  domain_auth: DomainAuth;
  smtp: Smtp | null;
  lists: ConsultedLists;
  account_list: "allowed" | "denied" | (string & {}) | null;
  duration_ms: number;
  dns_cached: boolean | null;
  credits: ResultCredits;
}

export interface BatchResult {
  id: string;
  created_at: string;
  sandbox: boolean;
  email: string;
  normalized: string | null;
  canonical: string | null;
  verdict: "deliverable" | "risky" | "undeliverable" | "unknown" | (string & {});
  reason: string;
  reasons: string[];
  score: number | null;
  evidence: "syntax" | "dns" | "smtp" | (string & {});
  safe_to_send: boolean | null;
  accept_for_signup: boolean;
  did_you_mean: string | null;
  lookalike_of: string | null;
  retry_after_s: number | null;
  local_part: string | null;
  tag: string | null;
  domain: string | null;
  ascii_domain: string | null;
  registrable_domain: string | null;
  checks: Checks;
  syntax_error: SyntaxProblem | null;
  mx: Mx;
  domain_auth: DomainAuth;
  smtp: Smtp | null;
  lists: ConsultedLists;
  account_list: "allowed" | "denied" | (string & {}) | null;
  duration_ms: number;
  dns_cached: boolean | null;
  credits: ResultCredits;
  duplicate_of: number | null;
}

export interface BatchSummary {
  deliverable: number;
  risky: number;
  undeliverable: number;
  unknown: number;
  duplicates: number;
}

export interface Batch {
  id: string;
  created_at: string;
  results: BatchResult[];
  summary: BatchSummary;
  duration_ms: number;
  credits: ResultCredits;
}

export interface Feedback {
  id: string;
  state: "open" | (string & {});
}

export interface ListError {
  code: string;
  message: string;
}

export interface ListCounts {
  rows: number;
  empty: number;
  not_address: number;
  bad_syntax: number;
  duplicates: number;
  addresses: number;
}

export interface ListProgress {
  rows_read: number;
  domains_checked: number;
  domains_total: number;
  checked: number;
  total: number;
  mailboxes_checked: number;
  mailboxes_total: number;
  percent: number;
  seconds_left: number | null;
  rechecks: number;
  recheck_at: string | null;
  rechecks_end_at: string | null;
}

export interface ListVerdicts {
  deliverable: number;
  risky: number;
  undeliverable: number;
  unknown: number;
}

export interface ListCredits {
  at_most: number | null;
  held: number;
  charged: number;
}

export interface AddressList {
  id: string;
  name: string;
  state: "uploading" | "parsing" | "ready" | "queued" | "running" | "paused" | "rechecking" | "completed" | "canceled" | "failed" | "expired" | (string & {});
  error: ListError | null;
  counts: ListCounts | null;
  progress: ListProgress;
  verdicts: ListVerdicts;
  reasons: Record<string, any>;
  safe_to_send: number;
  credits: ListCredits;
  bytes: number;
  column: number | null;
  header: boolean | null;
  check: "dns" | "mailbox" | (string & {});
  dedupe: "address" | "mailbox" | "off" | (string & {});
  recheck_unknown: boolean;
  metadata: Record<string, any>;
  created_at: string;
  started_at: string | null;
  results_at: string | null;
  finished_at: string | null;
  expires_at: string | null;
}

export interface AddressListPage {
  data: AddressList[];
  has_more: boolean;
  next: string | null;
}

export interface DeletedAddressList {
  id: string;
  deleted: boolean;
}

export interface PreviewColumn {
  index: number;
  name: string;
  evidence: string;
}

export interface DomainShare {
  domain: string;
  share: number;
}

export interface PreviewShares {
  disposable: number;
  free_provider: number;
  role_account: number;
  top_domains: DomainShare[];
}

export interface SampleShare {
  share: number;
  low: number;
  high: number;
}

export interface PreviewPrice {
  at_most: number;
  mailbox_at_most: number;
  mailbox_seconds: number;
}

export interface ListPreview {
  format: "text" | "xlsx" | "json" | (string & {});
  encoding: string;
  encoding_confidence: "certain" | "likely" | "unsure" | (string & {});
  delimiter: string | null;
  header: string[] | null;
  first_rows: string[][];
  column: number | null;
  guessed_column: number | null;
  columns: PreviewColumn[];
  counts: ListCounts;
  extractable: number;
  shares: PreviewShares | null;
  bounce_rate: SampleShare | null;
  price: PreviewPrice;
}

export interface SampleShares {
  deliverable: SampleShare;
  risky: SampleShare;
  undeliverable: SampleShare;
  unknown: SampleShare;
}

export interface ListSample {
  size: number;
  created_at: string;
  shares: SampleShares;
  bounce_rate: SampleShare;
}

export interface ListResult {
  email: string;
  normalized: string | null;
  canonical: string | null;
  verdict: "deliverable" | "risky" | "undeliverable" | "unknown" | (string & {});
  reason: string;
  reasons: string[];
  score: number | null;
  evidence: "syntax" | "dns" | "smtp" | (string & {});
  safe_to_send: boolean | null;
  accept_for_signup: boolean;
  did_you_mean: string | null;
  lookalike_of: string | null;
  retry_after_s: number | null;
  local_part: string | null;
  tag: string | null;
  domain: string | null;
  ascii_domain: string | null;
  registrable_domain: string | null;
  checks: Checks;
  syntax_error: SyntaxProblem | null;
  mx: Mx;
  domain_auth: DomainAuth;
  smtp: Smtp | null;
  lists: ConsultedLists;
  account_list: "allowed" | "denied" | (string & {}) | null;
}

export interface ListRow {
  row: number;
  kind: "address" | "duplicate" | "empty" | "not_address" | (string & {});
  duplicate_of: number | null;
  result: ListResult | null;
}

export interface ListResults {
  data: ListRow[];
  has_more: boolean;
  next: number | null;
  state: "uploading" | "parsing" | "ready" | "queued" | "running" | "paused" | "rechecking" | "completed" | "canceled" | "failed" | "expired" | (string & {});
}

export interface ListPart {
  number: number;
  bytes: number;
  sha256: string;
}

export interface ListPartPage {
  data: ListPart[];
  has_more: boolean;
}

export interface Domains {
  allowed: string[];
  denied: string[];
}

export interface EventPage {
  data: Event[];
  has_more: boolean;
  next: string | null;
}

export interface Webhook {
  id: string;
  url: string;
  types: string[] | null;
  description: string;
  state: "active" | "disabled" | (string & {});
  disabled_reason: "manual" | "gone" | "failing" | (string & {}) | null;
  public_key: string;
  created_at: string;
}

export interface WebhookList {
  data: Webhook[];
}

export interface WebhookSecret {
  id: string;
  url: string;
  types: string[] | null;
  description: string;
  state: "active" | "disabled" | (string & {});
  disabled_reason: "manual" | "gone" | "failing" | (string & {}) | null;
  public_key: string;
  created_at: string;
  secret: string;
}

export interface DeletedWebhook {
  id: string;
  deleted: boolean;
}

export interface SentTest {
  event: string;
}

export interface Attempt {
  at: string;
  status: number | null;
  error: string | null;
  duration_ms: number;
  response: string;
}

export interface Delivery {
  id: string;
  event: string;
  type: string;
  state: "waiting" | "delivered" | "failed" | (string & {});
  next_attempt_at: string | null;
  attempts: Attempt[];
}

export interface DeliveryPage {
  data: Delivery[];
  has_more: boolean;
  next: string | null;
}

export interface Replayed {
  replayed: number;
}

export interface Credits {
  balance: number;
  held: number;
  used_this_period: number;
  plan: string;
  next_grant: number | null;
  next_grant_at: string | null;
  low_balance_threshold: number;
}

export interface SourceUsage {
  requests: number;
  credits: number;
}

export interface UsageBySource {
  api: SourceUsage;
  playground: SourceUsage;
  lists: SourceUsage;
}

export interface UsageDay {
  date: string;
  requests: number;
  credits: number;
  deliverable: number;
  risky: number;
  undeliverable: number;
  unknown: number;
  by_source: UsageBySource;
}

export interface Usage {
  from: string;
  to: string;
  days: UsageDay[];
}

export interface MeAccount {
  id: string;
  name: string;
}

export interface MeKey {
  id: string;
  name: string;
  display: string;
  scopes: string[] | null;
  expires_at: string | null;
}

export interface Me {
  account: MeAccount;
  key: MeKey;
  plan: string;
  rate_limit: RateLimit;
}

export interface Event {
  id: string;
  type: string;
  timestamp: string;
  account_id: string;
  data: Record<string, any>;
}
