/** Calls that wait for a connection to their upstream, here for the look-up of its name. */
import type { LookupFunction } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { keyDigest } from "../../../domain/key/secret/key-format.ts";
import { EMBEDDING_FORMATS } from "../../../server/gateway/library/embedding-formats.ts";
import { createLibraryCaller } from "../../../server/gateway/library/library-call.ts";
import { until } from "../../env/until.ts";
import type { Harness } from "../harness.ts";
import { ownersInMemory } from "../ownership/owners-in-memory.ts";
import { PROVIDER_KEY, routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

/** Ends of the look-ups that are under way. */
const lookUps = vi.hoisted((): (() => void)[] => []);

vi.mock("node:dns", async (load) => ({
  ...(await load<typeof import("node:dns")>()),
  lookup: (_name: string, _options: object, callback: Parameters<LookupFunction>[2]) => {
    lookUps.push(() => callback(null, [{ address: "127.0.0.1", family: 4 }]));
  },
}));

let upstream: Upstream;
let harness: Harness;
const { owners } = ownersInMemory();
beforeAll(async () => {
  upstream = await startUpstream();
});
beforeEach(async () => {
  harness = await startGateway({ owners });
  upstream.received.length = 0;
  declare(PROVIDER_KEY);
});
afterEach(() => harness.close());
afterAll(() => upstream.close());

function declare(credential: string): void {
  const url = upstream.url.replace("127.0.0.1", "upstream.test");
  const upstreams = [upstreamOf(url, "openai", { credential })];
  const of = { gatewayId: "gw_main", publicId: "main", upstreams } as const;
  harness.addGateway({ ...of, routes: [routeOf("fast")] });
  harness.addGateway({ ...of, gatewayId: "gw_kept", publicId: "kept", operations: ["generate", "responses"] });
}

function ask(key: string, path = "main/v1/chat/completions", json: object = { model: "fast" }): Promise<Response> {
  return fetch(`${harness.url}/g/${path}`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify(json),
  });
}

/** Makes a call, and changes something while its upstream's name is looked up. */
async function askMeanwhile(key: string, change: () => void, ...asked: [path?: string, json?: object]) {
  return whileConnecting(ask(key, ...asked), change);
}

async function whileConnecting<T>(call: Promise<T>, change: () => void): Promise<T> {
  await until("the upstream's name is looked up", () => lookUps.length > 0);
  change();
  const answered = call.then(() => true);
  await until("the call is answered", async () => {
    for (const end of lookUps.splice(0)) end();
    return Promise.race([answered, new Promise((resolve) => setTimeout(resolve, 10, false))]);
  });
  return call;
}

test("b488: a key that loses its right while its call is connected has the upstream asked for nothing", async () => {
  for (const fields of [
    { scopes: scopeSet(["gateway:generate"]) },
    { scopes: scopeSet(["gateway:embed"]) },
    { allowedModels: ["fine"] },
  ]) {
    const key = harness.addKey();
    const answer = await askMeanwhile(key, () => harness.changeKey(key, fields));
    expect([answer.status, upstream.received.length], JSON.stringify(fields)).toEqual([403, 0]);
  }
});

test("b488: a call asks with the credential that its upstream has once it is connected to", async () => {
  const answer = await askMeanwhile(harness.addKey(), () => declare("sk-rotated-canary-0123456789"));
  expect(answer.status).toBe(200);
  expect(upstream.received.map(({ headers }) => headers.authorization)).toEqual([
    "Bearer sk-rotated-canary-0123456789",
  ]);
});

test("b489: a key that is held to models while its call is connected brings no tool of another into a conversation", async () => {
  const tools = [{ type: "image_generation", model: "other" }];
  const items = { items: [{ type: "additional_tools", role: "developer", tools }] };
  const path = "kept/v1/conversations";
  const key = harness.addKey();
  const answer = await askMeanwhile(key, () => harness.changeKey(key, { allowedModels: ["m"] }), path, items);
  expect([answer.status, upstream.received.length]).toEqual([503, 0]);
  // Tried again, as the answer says, it is looked through.
  expect((await ask(key, path, items)).status).toBe(400);
  // What was looked through goes on.
  const plain = { items: [{ type: "message", role: "user", content: "?" }] };
  const again = await askMeanwhile(key, () => harness.changeKey(key, { allowedModels: ["n"] }), path, plain);
  expect([again.status, upstream.received.length]).toEqual([200, 1]);
});

test("a call of which nothing changes while it is connected is made once", async () => {
  const answer = await askMeanwhile(harness.addKey(), () => {});
  expect([answer.status, upstream.received.length]).toEqual([200, 1]);
});

test("b488: a library's call is decided again once it has a connection, too", async () => {
  const caller = createLibraryCaller(harness.deps, { formats: EMBEDDING_FORMATS, userAgent: "test" });
  onTestFinished(() => caller.close());
  const embed = (key: string) => {
    const call = { digest: keyDigest(key), publicId: "main", model: "fast", timeoutMs: 5_000, maxAnswer: 1_000 };
    return caller.call({ ...call, body: () => ({ input: "?" }) });
  };
  for (const change of [
    () => declare("sk-rotated-canary-0123456789"),
    (key: string) => harness.changeKey(key, { allowedModels: ["other"] }),
    (key: string) => harness.changeKey(key, { scopes: scopeSet(["gateway:generate"]) }),
  ]) {
    declare(PROVIDER_KEY);
    const key = harness.addKey();
    const failed = await whileConnecting(embed(key), () => change(key));
    expect([failed, upstream.received.length]).toMatchObject([{ kind: "failed" }, 0]);
    expect(failed).not.toMatchObject({ isDoubtful: true });
  }
  declare(PROVIDER_KEY);
  // A call is none of those that keep it from beginning.
  const single = harness.addKey({ teamLimits: { rate: null, concurrent: 1 } });
  expect(await whileConnecting(embed(single), () => {})).toMatchObject({ kind: "answered" });
});
