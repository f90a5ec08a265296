import { answerLimits } from "../../../server/http/answers/answer-budget.ts";
import type { ProblemCode } from "../../../server/http/problems/catalogue.ts";
import { unique } from "../../store/fixtures.ts";
import { ownPage } from "../auth/session/sign-in.ts";
import type { Calls } from "./calls.ts";
import { type Answered, type Call, type Described, send } from "./described.ts";
import type { DatabaseMode, World } from "./world.ts";

const LONG = "x".repeat(600);
/** More than any operation takes. */
const TOO_MUCH = 40_000_000;

/**
 * Makes an operation refuse with a code: by a call of its own where it has one, else by what all have in common.
 *
 * @param valid a call of it that the server would take
 */
export async function provoke(
  world: World,
  described: Described,
  code: string,
  calls: Calls,
  valid: Call,
): Promise<Answered> {
  const make = calls.refused?.[code as ProblemCode];
  if (make !== undefined) return send(world.url, await make(world));
  const isKeyed = described.operation.security.some((one) => "bearerKey" in one);
  switch (code) {
    case "unauthorized":
      return send(world.url, { ...valid, headers: without(valid.headers, "x-api-key", "authorization") });
    case "forbidden":
      return send(world.url, isKeyed ? withKey(valid, world.addUseless()) : bySession(world, valid, "x-csrf-token"));
    case "forbidden_origin": {
      const foreign = { origin: "https://evil.example" };
      const call = isKeyed ? valid : bySession(world, valid);
      return send(world.url, { ...call, headers: { ...call.headers, ...foreign } });
    }
    case "rate_limited": {
      if (!isKeyed) return whileFull(world, () => send(world.url, valid));
      const limited = world.addLimited();
      await send(world.url, { method: "GET", path: "/api/v1/whoami", headers: { "x-api-key": limited } });
      return send(world.url, withKey(valid, limited));
    }
    case "expectation_failed":
      return send(world.url, { ...valid, headers: { ...valid.headers, expect: "the-unexpected" } });
    case "upgrade_required":
      return send(world.url, { ...valid, headers: { ...valid.headers, connection: "upgrade", upgrade: "websocket" } });
    case "not_acceptable":
      return send(world.url, { ...valid, headers: { ...valid.headers, accept: "text/html" } });
    case "not_found":
      return send(world.url, withParameters(described, valid, "nothing"));
    case "uri_too_long":
      return send(world.url, withParameters(described, valid, LONG));
    case "invalid_request":
      return send(world.url, described.name.includes("/atoms/{id}") ? forSubject(valid) : invalidForm(valid));
    case "subject_required":
      return send(world.url, withKey(valid, world.addForSubjects()));
    case "payload_too_large":
      return send(world.url, { ...valid, headers: { ...JSON_TYPE, ...valid.headers }, announced: TOO_MUCH });
    case "unsupported_media_type":
      return send(world.url, { ...valid, headers: { ...valid.headers, "content-type": "text/plain" }, body: "text" });
    case "precondition_failed":
      return send(world.url, { ...valid, headers: { ...valid.headers, "if-match": '"another"' } });
    case "precondition_required":
      return send(world.url, { ...valid, headers: without(valid.headers, "if-match") });
    case "idempotency_mismatch": {
      const first = await calls.valid(world);
      const headers = { ...first.headers, "idempotency-key": unique("once") };
      await send(world.url, { ...first, headers });
      const body: object = JSON.parse(first.body ?? "{}");
      const another = { ...body, ...(isKeyed ? { library: "another" } : { reason: "another" }) };
      return send(world.url, { ...first, headers, body: JSON.stringify(another) });
    }
    case "internal":
      return whileFaulty(world, isKeyed, () => send(world.url, valid));
    case "unavailable":
      if (isKeyed) return whileStale(world, () => send(world.url, valid));
      return whileDatabase(world, "away", () => send(world.url, valid));
    case "insufficient_storage":
      return whileDatabase(world, "full", () => send(world.url, valid));
    default:
      throw new Error(
        `nothing makes ${described.name} refuse with ${code}: add a call to test/server/openapi/calls.ts`,
      );
  }
}

/** While answers to the installation's token hold as much as they may. */
async function whileFull({ harness: { deps } }: World, call: () => Promise<Answered>): Promise<Answered> {
  const owner = { key: "console", team: null };
  const full = deps.answers.take(owner, answerLimits(1).key, () => {});
  if (typeof full === "string") throw new Error("answers are held already");
  return call().finally(() => full.end());
}

const JSON_TYPE = { "content-type": "application/json" } as const;

function without(headers: Call["headers"], ...names: string[]): Call["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

function withKey(call: Call, key: string): Call {
  return { ...call, headers: { ...call.headers, "x-api-key": key } };
}

/** The same by a session in place of the token. */
function bySession({ harness, session }: World, call: Call, ...left: string[]): Call {
  const headers = { ...without(call.headers, "authorization"), ...ownPage(harness, session) };
  return { ...call, headers: without(headers, ...left) };
}

function withParameters({ path }: Described, call: Call, text: string): Call {
  return path.includes("{") ? { ...call, path: path.replace(/\{\w+\}/g, text) } : call;
}

/** By a key that takes no subject. */
function forSubject(call: Call): Call {
  return { ...call, headers: { ...call.headers, "x-keyplane-subject": "user-4711" } };
}

function invalidForm(call: Call): Call {
  if (call.method === "GET") return { ...call, path: `${call.path.split("?")[0]}?limit=0&pageSize=0` };
  return { ...call, headers: { ...JSON_TYPE, ...call.headers }, body: "{" };
}

async function whileFaulty(world: World, isKeyed: boolean, ask: () => Promise<Answered>): Promise<Answered> {
  const { index } = world.harness.deps;
  const { findKey } = index;
  if (isKeyed) {
    index.findKey = () => {
      throw new Error("the test says so");
    };
  } else world.setDatabase("broken");
  try {
    return await ask();
  } finally {
    index.findKey = findKey;
    world.setDatabase("up");
  }
}

async function whileStale({ harness }: World, ask: () => Promise<Answered>): Promise<Answered> {
  harness.setCurrent(false);
  try {
    return await ask();
  } finally {
    harness.setCurrent(true);
  }
}

async function whileDatabase(world: World, mode: DatabaseMode, ask: () => Promise<Answered>): Promise<Answered> {
  world.setDatabase(mode);
  try {
    return await ask();
  } finally {
    world.setDatabase("up");
  }
}
