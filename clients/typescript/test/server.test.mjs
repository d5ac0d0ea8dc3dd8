// The routes for sign-up forms, in Express, Fastify and with Request and Response.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { expressSignUp, fastifySignUp, signUpRoute } from "emailvalidation/server";
import express from "express";
import express4 from "express4";
import fastify from "fastify";

const ASK = { method: "POST", headers: { "Content-Type": "application/json" } };
// So that a busy machine decides, too.
const PATIENT = { timeout: 20_000 };
const TYPO = {
  accept: true,
  suggestion: "possible_typo@mailbox.test",
  message: "Did you mean possible_typo@mailbox.test?",
};

async function assertRoute(url, limit) {
  const ask = (email) => fetch(url, { ...ASK, body: JSON.stringify({ email }) });
  assert.deepEqual(await (await ask("possible_typo@sandbox.test")).json(), TYPO);
  const refused = await (await ask("disposable@sandbox.test")).json();
  assert.deepEqual([refused.accept, Object.keys(refused)], [false, ["accept", "suggestion", "message"]]);
  assert.equal((await ask(7)).status, 400);
  for (let calls = 2; calls < limit; calls += 1) {
    assert.equal((await ask("insufficient_credits@sandbox.test")).status, 200);
  }
  const over = await ask("disposable@sandbox.test");
  assert.deepEqual([over.status, (await over.json()).accept], [429, true]);
}

for (const [version, framework] of [[4, express4], [5, express]]) {
  const listen = async (t, options) => {
    const app = framework().post("/check", framework.json(), expressSignUp({ ...PATIENT, ...options }));
    app.use((error, request, response, next) => response.status(500).json({ error: error.message }));
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => {
      server.close();
      server.closeAllConnections();
    });
    return `http://127.0.0.1:${server.address().port}/check`;
  };

  test(`Express ${version}`, async (t) => {
    await assertRoute(await listen(t, { limit: 5 }), 5);
  });

  test(`Express ${version} handles the error of a function that was passed`, async (t) => {
    const fail = (error) => {
      throw new Error(`No log for ${error.code}`);
    };
    for (const onFailure of [fail, async (error) => fail(error)]) {
      const url = await listen(t, { onFailure });
      const body = JSON.stringify({ email: "insufficient_credits@sandbox.test" });
      const response = await fetch(url, { ...ASK, body });
      assert.equal(response.status, 500);
      assert.deepEqual(await response.json(), { error: "No log for insufficient_credits" });
    }
  });
}

test("Fastify", async (t) => {
  const app = fastify();
  t.after(() => app.close());
  app.post("/check", fastifySignUp({ ...PATIENT, limit: 5 }));
  await assertRoute(`${await app.listen({ port: 0, host: "127.0.0.1" })}/check`, 5);
});

test("Request and Response, as in a Next.js route handler", async () => {
  const failures = [];
  const POST = signUpRoute({ ...PATIENT, limit: 3, onFailure: (error) => failures.push(error.code) });
  const ask = (body, visitor) =>
    POST(
      new Request("https://shop.example/check", {
        ...ASK,
        body,
        headers: { "X-Forwarded-For": `203.0.113.9, ${visitor}` },
      }),
    );
  const json = (email) => JSON.stringify({ email });
  assert.deepEqual(await (await ask(json("possible_typo@sandbox.test"), "192.0.2.1")).json(), TYPO);
  assert.equal((await ask("{", "192.0.2.1")).status, 400);
  assert.equal((await ask(json("a".repeat(5_000)), "192.0.2.1")).status, 400);
  assert.equal((await POST(new Request("https://shop.example/check"))).status, 405);
  const failed = await (await ask(json("insufficient_credits@sandbox.test"), "192.0.2.1")).json();
  assert.deepEqual(failed, { accept: true, suggestion: null, message: null });
  assert.deepEqual(failures, ["insufficient_credits"]);
  await ask(json("deliverable@sandbox.test"), "192.0.2.1");
  assert.equal((await ask(json("deliverable@sandbox.test"), "192.0.2.1")).status, 429);
  // Another visitor has a limit of their own.
  assert.equal((await ask(json("deliverable@sandbox.test"), "192.0.2.2")).status, 200);
});
