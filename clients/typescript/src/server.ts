// Routes for your own server that check an address of a sign-up form. The API key stays there.
//
// They take `{"email": "…"}` and respond with `accept`, `suggestion` and `message`, which form.js shows.

import type { Options } from "./call.js";
import { Client, type SignUpCheck, type SignUpCheckOptions } from "./client.js";

const MAX_BODY_LENGTH = 4_096;
const WINDOW_MS = 60_000;
const MAX_VISITORS = 10_000;
const UNCHECKED = { accept: true, suggestion: null, message: null };

export type SignUpOptions = SignUpCheckOptions &
  Options<{
    client: Client;
    /** Checks per minute and address of a visitor. Defaults to 20. Beyond, addresses are accepted. */
    limit: number;
  }>;

export type FetchOptions = SignUpOptions &
  Options<{
    /**
     * Returns the visitor's address. By default, the last one in X-Forwarded-For, which your platform
     * or proxy has added. Without that header, all visitors share one limit.
     */
    visitor: (request: Request) => string;
  }>;

type Answer = Omit<SignUpCheck, "failure">;

/** For platforms with `Request` and `Response`. In Next.js: `export const POST = signUpRoute()`. */
export function signUpRoute(options: FetchOptions = {}): (request: Request) => Promise<Response> {
  const answer = createAnswer(options);
  const visitorOf = options.visitor ?? forwardedFor;
  return async (request) => {
    if (request.method !== "POST") {
      return new Response(null, { status: 405, headers: { Allow: "POST" } });
    }
    const [status, body] = await answer(await readJson(request), visitorOf(request));
    return Response.json(body, { status });
  };
}

// The parts of Express and Fastify that are used here.
type ParsedRequest = { body?: unknown; ip?: string | undefined };
type ExpressResponse = { status(code: number): { json(body: unknown): unknown } };
type Next = (error: unknown) => void;
type ExpressHandler = (request: ParsedRequest, response: ExpressResponse, next: Next) => Promise<void>;
type FastifyReply = { code(status: number): unknown };
type FastifyHandler = (request: ParsedRequest, reply: FastifyReply) => Promise<Answer>;

/** For Express, behind `express.json()`: `app.post("/email-check", express.json(), expressSignUp())`. */
export function expressSignUp(options: SignUpOptions = {}): ExpressHandler {
  const answer = createAnswer(options);
  return async (request, response, next) => {
    try {
      const [status, body] = await answer(request.body, request.ip ?? "");
      response.status(status).json(body);
    } catch (error) {
      // Express 4 doesn't look at promises.
      next(error);
    }
  };
}

/** For Fastify: `app.post("/email-check", fastifySignUp())`. */
export function fastifySignUp(options: SignUpOptions = {}): FastifyHandler {
  const answer = createAnswer(options);
  return async (request, reply) => {
    const [status, body] = await answer(request.body, request.ip ?? "");
    reply.code(status);
    return body;
  };
}

function createAnswer({ client, limit = 20, ...options }: SignUpOptions) {
  const counts = new Map<string, number>();
  let windowEnds = 0;

  const isAllowed = (visitor: string): boolean => {
    if (Date.now() >= windowEnds) {
      counts.clear();
      windowEnds = Date.now() + WINDOW_MS;
    }
    const count = (counts.get(visitor) ?? 0) + 1;
    if (count > limit || (count === 1 && counts.size >= MAX_VISITORS)) {
      return false;
    }
    counts.set(visitor, count);
    return true;
  };

  return async (body: any, visitor: string): Promise<[number, Answer]> => {
    const email: unknown = body?.email;
    if (typeof email !== "string") {
      return [400, { ...UNCHECKED, message: 'Send {"email": "…"} as JSON.' }];
    }
    if (!isAllowed(visitor)) {
      return [429, UNCHECKED];
    }
    // Made by the first visit: a build of the site has no key.
    client ??= new Client();
    const { accept, suggestion, message } = await client.signUpCheck(email, options);
    return [200, { accept, suggestion, message }];
  };
}

function forwardedFor(request: Request): string {
  return request.headers.get("x-forwarded-for")?.split(",").pop()?.trim() ?? "";
}

async function readJson(request: Request): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of request.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length > MAX_BODY_LENGTH) {
        return null;
      }
    }
    return JSON.parse(text);
  } catch {
    return null;
  }
}
