// The client against a running product, whose key and URL are in the environment.
// The API is also behind a proxy at SVC_STUCK_URL that never responds.
import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";
import {
  BillingError,
  Client,
  ConfigurationError,
  ConflictError,
  DeadlineExceeded,
  EmailValidationError,
  ListFailed,
  ServerError,
} from "emailvalidation";

const client = new Client();
const FILE = "Name,E-Mail\nJane,deliverable@sandbox.test\nJoe,undeliverable@sandbox.test\n";
const many = (count) => Array.from({ length: count }, (_, n) => `deliverable+${n}@sandbox.test`);

test("every verdict and reason of the sandbox is read", async () => {
  for (const [word, verdict] of Object.entries(JSON.parse(process.env.SANDBOX_REASONS))) {
    const result = await client.validate(`${word}@sandbox.test`);
    assert.deepEqual([result.reason, result.verdict], [word, verdict]);
  }
});

test("every error of the sandbox is an exception with its facts", async () => {
  for (const [code, status] of Object.entries(JSON.parse(process.env.SANDBOX_ERRORS))) {
    const error = await client.validate(`${code}@sandbox.test`, { timeout: 4_000 }).catch((e) => e);
    assert.ok(error instanceof EmailValidationError, code);
    assert.deepEqual([error.code, error.status], [code, status]);
    assert.ok(error.docUrl.endsWith(`#${code}`));
    assert.ok(error.requestId);
    assert.doesNotMatch(inspect(error) + JSON.stringify(error), /svc_live_\w{38}/);
  }
});

test("the client never shows its key", () => {
  const shown = inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client);
  assert.ok(!shown.includes(process.env.SVC_API_KEY));
});

test("what cannot work is refused before any request", () => {
  const apiKey = `svc_live_${"a".repeat(38)}`;
  for (const options of [
    { apiKey: "", baseUrl: "https://api.example.com" },
    { apiKey: "svc_live_short", baseUrl: "https://api.example.com" },
    { apiKey, baseUrl: "" },
    { apiKey, baseUrl: "api.example.com" },
    { apiKey, baseUrl: "http://api.example.com" },
    { apiKey, baseUrl: "http://localhost.example.com" },
  ]) {
    assert.throws(() => new Client(options), ConfigurationError);
  }
});

test("a browser is refused, because it would show the key", () => {
  Object.assign(globalThis, { window: {}, document: {} });
  try {
    assert.throws(() => new Client(), /API keys belong on servers/);
  } finally {
    delete globalThis.window;
    delete globalThis.document;
  }
});

test("the sign-up check decides like the API, and suggests", async () => {
  assert.deepEqual(await client.signUpCheck("possible_typo@sandbox.test"), {
    accept: true,
    suggestion: "possible_typo@mailbox.test",
    message: "Did you mean possible_typo@mailbox.test?",
  });
  assert.equal((await client.signUpCheck("disposable@sandbox.test")).accept, false);
  assert.equal((await client.signUpCheck("")).accept, false);
});

test("the sign-up check never says whether a mailbox exists", async () => {
  assert.deepEqual(
    await client.signUpCheck("mailbox_accepted@sandbox.test"),
    await client.signUpCheck("mailbox_not_found@sandbox.test"),
  );
});

test("the sign-up check accepts what it cannot check", async () => {
  for (const code of ["insufficient_credits", "rate_limit_exceeded", "invalid_api_key"]) {
    const failures = [];
    const options = { timeout: 10_000, onFailure: (error) => failures.push(error.code) };
    const check = await client.signUpCheck(`${code}@sandbox.test`, options);
    assert.equal(check.accept, true);
    assert.deepEqual(failures, [code]);
  }
  const stuck = new Client({ baseUrl: process.env.SVC_STUCK_URL });
  const check = await stuck.signUpCheck("a@sandbox.test", { timeout: 500 });
  assert.ok(check.accept && check.failure instanceof DeadlineExceeded);
});

test("many addresses are validated in order, and one batch at a time", async () => {
  let taken = 0;
  async function* read() {
    for (const email of many(250)) {
      taken += 1;
      yield email;
    }
  }
  const emails = [];
  for await (const result of client.validateMany(read())) {
    assert.ok(taken <= emails.length + 100);
    emails.push(result.email);
  }
  assert.deepEqual(emails, many(250));
});

test("batches are smaller than a low rate limit", async () => {
  const slow = new Client({ apiKey: process.env.SVC_SLOW_KEY });
  const emails = [];
  for await (const result of slow.validateMany(many(60))) {
    emails.push(result.email);
  }
  assert.deepEqual(emails, many(60));
});

test("a list is uploaded by the name of its column, and downloaded", async () => {
  const folder = await mkdtemp(join(tmpdir(), "lists-"));
  await writeFile(join(folder, "customers.csv"), FILE);
  const steps = [];
  const created = await client.lists.create(join(folder, "customers.csv"), {
    column: "e-mail",
    onProgress: (...step) => steps.push(step),
  });
  const checked = await client.lists.wait(created, { timeout: 60_000 });
  assert.deepEqual(steps, [[FILE.length, FILE.length]]);
  assert.equal(checked.verdicts.deliverable, 1);
  await client.lists.download(checked, join(folder, "clean.csv"), { filter: "deliverable" });
  const rows = (await readFile(join(folder, "clean.csv"), "utf8")).trim().split(/\r?\n/);
  assert.equal(rows.length, 2);
  assert.deepEqual((await readdir(folder)).sort(), ["clean.csv", "customers.csv"]);
  await assert.rejects(client.lists.pause(checked), ConflictError);
  await assert.rejects(client.lists.create(join(folder, "customers.csv"), { column: "x" }), /E-Mail/);
  await client.lists.delete(checked);
});

test("a Blob is uploaded, and a failed list says why", async () => {
  const created = await client.lists.create(new Blob(["\n"]), { name: "empty.csv" });
  const failed = await client.lists.wait(created, { timeout: 60_000 }).catch((error) => error);
  assert.ok(failed instanceof ListFailed);
  assert.equal(failed.details.list.id, created.id);
});

test("own domains are added to those that are there", async () => {
  await client.domains.replace({ allowed: ["partner.example"], denied: [] });
  const stored = await client.domains.deny("spam.example");
  assert.deepEqual(stored, { allowed: ["partner.example"], denied: ["spam.example"] });
});

test("a wait that is longer than the deadline is not started", async () => {
  const error = await client.validate("service_unavailable@sandbox.test", { timeout: 4_000 }).catch((e) => e);
  assert.ok(error instanceof ServerError);
  assert.equal(error.details.retry_after, 5);
});

test("a page of a proxy is no answer, and methods may be in lower case", async () => {
  const methods = [];
  const server = createServer((request, response) => {
    methods.push([request.method, Boolean(request.headers["idempotency-key"])]);
    response.writeHead(200, { "Content-Type": "text/html" }).end("<html>Sign in</html>");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const foreign = new Client({ baseUrl: `http://127.0.0.1:${server.address().port}` });
  await assert.rejects(foreign.request("post", "/v1/validate"), /wasn't from the API/);
  assert.deepEqual(methods, [["POST", true]]);
  assert.equal((await foreign.signUpCheck("a@sandbox.test")).accept, true);
  server.close();
  server.closeAllConnections();
});

test("waiting ends with its signal", async () => {
  const stuck = new Client({ baseUrl: process.env.SVC_STUCK_URL });
  const signal = AbortSignal.timeout(100);
  await assert.rejects(stuck.lists.wait("lst_1", { signal }), { name: "TimeoutError" });
});

test("a signal ends a call, with its own reason", async () => {
  const stuck = new Client({ baseUrl: process.env.SVC_STUCK_URL });
  const signal = AbortSignal.timeout(100);
  await assert.rejects(stuck.validate("a@sandbox.test", { signal }), { name: "TimeoutError" });
});

test("CommonJS has the same classes", async () => {
  const { Client: Required, BillingError: RequiredError } =
    createRequire(import.meta.url)("emailvalidation");
  const call = new Required().validate("insufficient_credits@sandbox.test");
  await assert.rejects(call, RequiredError);
  await assert.rejects(client.validate("insufficient_credits@sandbox.test"), BillingError);
});
