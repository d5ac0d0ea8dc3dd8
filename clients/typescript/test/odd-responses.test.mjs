// Responses that the API doesn't send, but proxies and networks do.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, readdir } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  Client,
  ConfigurationError,
  ConnectionFailed,
  DeadlineExceeded,
  EmailValidationError,
  InvalidRequestError,
  RateLimitError,
} from "emailvalidation";

const apiKey = `svc_live_${"a".repeat(38)}`;
const requests = [];
let respond;
const server = createServer((request, response) => {
  requests.push(request);
  respond(response, request);
});
const baseUrl = await listen(server);
const client = new Client({ apiKey, baseUrl });

async function listen(one, scheme = "http") {
  after(() => {
    one.close();
    one.closeAllConnections();
  });
  await once(one.listen(0, "127.0.0.1"), "listening");
  return `${scheme}://127.0.0.1:${one.address().port}`;
}

function script(body, { status = 200, type = "application/json", ...headers } = {}) {
  requests.length = 0;
  respond = (response) => {
    response.writeHead(status, { "Content-Type": type, Connection: "close", ...headers }).end(body);
  };
}

for (const [body, options] of [
  ["", { status: 204 }],
  ["", { status: 301, Location: "/elsewhere" }],
  ['{"accept_for_signup":false}', { status: 307, Location: "/elsewhere" }],
  ["Hello", { type: "text/plain" }],
  ["<p>Sign in", { type: "Text/HTML; charset=utf-8" }],
  ["null"],
  ["[]"],
  ["{}"],
  ['"text"'],
  ["7"],
  ['{"checks":"x"}'],
  ['{"mx":{"records":7}}'],
  ['{"accept_for_signup":null}'],
  ['{"accept_for_signup":0}'],
  ['{"accept_for_signup":"false"}'],
  ['{"accept_for_signup":true,"did_you_mean":{"a":1}}'],
  ['{"error":{"details":"x"}}', { status: 400 }],
  ['{"error":{"details":null,"message":{"toString":1}}}', { status: 400 }],
  ['{"error":{"type":"constructor"}}', { status: 400 }],
  ['{"error":{"type":"__proto__","code":7}}', { status: 400 }],
  ['{"error":"x"}', { status: 400 }],
  ["null", { status: 404 }],
]) {
  test(`the sign-up check accepts after ${body || "no body"} ${JSON.stringify(options)}`, async () => {
    script(body, options);
    const failures = [];
    const check = await client.signUpCheck("jane@shop.example", {
      timeout: 1_000,
      onFailure: (error) => failures.push(error),
    });
    assert.deepEqual([check.accept, check.suggestion, check.message], [true, null, null]);
    assert.ok(failures.every((error) => error instanceof EmailValidationError && error === check.failure));
  });
}

test("the sign-up check refuses what the API refuses, also with odd details", async () => {
  for (const type of ["application/json", "Application/JSON; charset=UTF-8"]) {
    for (const problem of ["null", '"x"', '{"message":7}']) {
      script(`{"accept_for_signup":false,"evidence":"dns","syntax_error":${problem}}`, { type });
      assert.deepEqual(await client.signUpCheck("jane@shop.example"), {
        accept: false,
        suggestion: null,
        message: "Please enter an email address that can receive mail.",
      });
    }
  }
});

test("an address with half a character is sent, and accepted when the API refuses the request", async () => {
  let sent = "";
  respond = async (response, request) => {
    for await (const part of request) {
      sent += part;
    }
    response.writeHead(400, { "Content-Type": "application/json" }).end('{"error":{"code":"invalid_json"}}');
  };
  const check = await client.signUpCheck("\ud800@shop.example");
  assert.deepEqual([check.accept, check.failure.code], [true, "invalid_json"]);
  assert.equal(sent, '{"email":"\\ud800@shop.example"}');
});

test("a host that does not exist, or shows another's certificate, is a failed connection", async () => {
  const folder = await mkdtemp(join(tmpdir(), "certificate-"));
  const [key, cert] = ["key.pem", "cert.pem"].map((name) => join(folder, name));
  const options = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync("openssl", ["req", ...options, "-subj", "/CN=x", "-keyout", key, "-out", cert], { stdio: "ignore" });
  const secure = createTlsServer({ key: await readFile(key), cert: await readFile(cert) });
  for (const url of [await listen(secure, "https"), "https://api..example.com", "https://127.0.0.1:1"]) {
    const failed = new Client({ apiKey, baseUrl: url });
    const check = await failed.signUpCheck("jane@shop.example", { timeout: 500 });
    assert.equal(check.accept, true, url);
    assert.ok(check.failure instanceof ConnectionFailed || check.failure instanceof DeadlineExceeded);
  }
});

test("a URL that would leak or fail is refused", () => {
  for (const url of [
    "http://127.evil.example",
    "https://api.example:80x",
    "https://exa mple.com",
    "https://jane:pass@api.example",
  ]) {
    assert.throws(() => new Client({ apiKey, baseUrl: url }), ConfigurationError, url);
  }
});

test("a response without the object that the API sends is an error of this package", async () => {
  script("null");
  await assert.rejects(client.validate("jane@shop.example"), EmailValidationError);
  await assert.rejects(client.credits(), EmailValidationError);
  script("{}");
  await assert.rejects(client.validateMany(["jane@shop.example"]).next(), EmailValidationError);
  await assert.rejects(client.events.iterate().next(), EmailValidationError);
});

test("a redirect is neither followed nor an answer, and a response without rows no download", async () => {
  script("{}", { status: 302, Location: "/elsewhere" });
  await assert.rejects(client.credits(), { status: 302, message: /wasn't from the API/ });
  assert.deepEqual(requests.map((one) => one.url), ["/v1/credits"]);
  const folder = await mkdtemp(join(tmpdir(), "redirect-"));
  await assert.rejects(client.lists.download("lst_1", join(folder, "clean.csv")), { status: 302 });
  script("", { status: 204 });
  await assert.rejects(client.lists.download("lst_1", join(folder, "clean.csv")), EmailValidationError);
  assert.deepEqual(await readdir(folder), []);
});

test("the caller's headers replace ours in any case, except the key", async () => {
  script("{}");
  const headers = { "content-type": "text/csv", "idempotency-key": "mine", authorization: "Basic x" };
  await client.request("POST", "/v1/lists", { body: new TextEncoder().encode("a"), headers });
  assert.equal(requests[0].headers["content-type"], "text/csv");
  assert.equal(requests[0].headers["idempotency-key"], "mine");
  assert.equal(requests[0].headers.authorization, `Bearer ${apiKey}`);
  await client.request("POST", "/v1/lists", { json: {}, headers: { "content-type": "text/csv" } });
  assert.equal(requests[1].headers["content-type"], "application/json");
});

test("a proxy's wait is that of its header, in seconds or as a date", async () => {
  const date = new Date(Date.now() + 60_000).toUTCString();
  for (const [after, tries] of [["60", 1], [date, 1], ["soon", 2], ["-5", 2]]) {
    script("Slow down", { status: 429, type: "text/plain", "Retry-After": after });
    await assert.rejects(client.validate("jane@shop.example", { timeout: 2_000 }), RateLimitError);
    assert.ok(tries === 1 ? requests.length === 1 : requests.length > 1, `${after}: ${requests.length}`);
    assert.ok(requests.length < 30);
  }
});

test("a download ends if no response begins, and not while rows arrive", async () => {
  respond = () => {};
  await assert.rejects(client.lists.open("lst_1", { timeout: 200 }), DeadlineExceeded);
  const folder = await mkdtemp(join(tmpdir(), "download-"));
  const target = join(folder, "clean.csv");
  await assert.rejects(client.lists.download("lst_1", target, { timeout: 200 }), DeadlineExceeded);
  respond = (response) => {
    response.writeHead(200, { "Content-Type": "text/csv" });
    response.write("email\r\n");
    setTimeout(() => response.end("jane@shop.example\r\n"), 600);
  };
  await client.lists.download("lst_1", target, { timeout: 400 });
  assert.equal(await readFile(target, "utf8"), "email\r\njane@shop.example\r\n");
  assert.deepEqual(await readdir(folder), ["clean.csv"]);
});

test("a signal ends a download before and during its rows, and leaves no file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "signal-"));
  for (const answer of [() => {}, (response) => response.writeHead(200).write("email\r\n")]) {
    respond = answer;
    const signal = AbortSignal.timeout(200);
    await assert.rejects(client.lists.download("lst_1", join(folder, "clean.csv"), { signal }), {
      name: "TimeoutError",
    });
    assert.deepEqual(await readdir(folder), []);
  }
});

test("an error instead of a download is the API's, and tried again if that can help", async () => {
  script('{"error":{"type":"invalid_request_error","code":"list_not_found"}}', { status: 404 });
  const error = await client.lists.open("lst_1").catch((one) => one);
  assert.ok(error instanceof InvalidRequestError);
  assert.equal(error.code, "list_not_found");
  respond = (response) => {
    const status = requests.length > 2 ? 200 : 502;
    response.writeHead(status, { "Content-Type": "text/csv" }).end("email\r\n");
  };
  requests.length = 1;
  assert.equal(await new Response(await client.lists.open("lst_1")).text(), "email\r\n");
});

test("waiting for a list asks once a second, and ends in time", async () => {
  script('{"id":"lst_1","state":"running"}');
  await assert.rejects(client.lists.wait("lst_1", { timeout: 900 }), DeadlineExceeded);
  assert.ok(requests.length < 5, String(requests.length));
});
