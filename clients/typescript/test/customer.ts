// A program of a customer, for types.test.mjs, which compiles it.
import express from "express";
import fastify from "fastify";
import { Client, webhooks, type EmailValidationError } from "emailvalidation";
import { expressSignUp, fastifySignUp, signUpRoute } from "emailvalidation/server";

const none = undefined;
const onFailure = (error: EmailValidationError) => console.error(error.code, error.docUrl);

export async function use(body: string, headers: Headers) {
  const client = new Client({ apiKey: none, baseUrl: none, timeout: none });
  const { verdict } = await client.validate("a", { check: none, timeout: none, signal: none });
  const { accept } = await client.signUpCheck("a", { timeout: none, onFailure: none });
  for await (const result of client.validateMany(["a"], { check: none, signal: none })) result.email;
  for await (const event of client.events.iterate({ after: none, follow: none })) event.type;
  const list = await client.lists.create("a.csv", { name: none, column: none, onProgress: none });
  await client.lists.upload(list.id, "a.csv", { onProgress: none });
  await client.lists.wait(list, { until: none, timeout: none, onProgress: none });
  await client.lists.start(list, { column: none, max_credits: 5 });
  await client.lists.download(list, "b.csv", { filter: none, columns: none, timeout: none });
  await client.request("GET", "/v1/me", { query: none, headers: none, stream: none });
  await webhooks.verify(body, headers, "whsec_", { tolerance: none });
  const app = express().post("/", express.json(), expressSignUp({ client: none, limit: none, onFailure }));
  fastify().post("/", fastifySignUp({ timeout: none, onFailure: none }));
  const route: (request: Request) => Promise<Response> = signUpRoute({ visitor: none });
  return [verdict, accept, app, route];
}
