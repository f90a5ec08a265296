/** Routes of which several upstreams share the calls. */
import type { ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { OperationKind, RouteRecord } from "../../../domain/access/key-record.ts";
import { keyDigest } from "../../../domain/key/secret/key-format.ts";
import { EMBEDDING_FORMATS } from "../../../server/gateway/library/embedding-formats.ts";
import { createLibraryCaller } from "../../../server/gateway/library/library-call.ts";
import type { Harness } from "../harness.ts";
import { ownersInMemory } from "../ownership/owners-in-memory.ts";
import { routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { startKeepingUpstream } from "./keeping-upstream.ts";
import { type Received, startUpstream, type Upstream } from "./upstream.ts";

const NAMES = ["west", "east", "spare"] as const;
type Name = (typeof NAMES)[number];

let upstreams: Record<Name, Upstream>;
let harness: Harness;
const { owners } = ownersInMemory();

beforeAll(async () => {
  upstreams = { west: await startUpstream(), east: await startUpstream(), spare: await startUpstream() };
});
beforeEach(async () => {
  harness = await startGateway({ owners });
  for (const name of NAMES) {
    upstreams[name].received.length = 0;
    upstreams[name].answerWith((response) => response.end(JSON.stringify(name)));
  }
});
afterEach(() => harness.close());
afterAll(async () => {
  for (const name of NAMES) await upstreams[name].close();
});

type Declared = Partial<RouteRecord> & {
  readonly weights: readonly [west?: number, east?: number, spare?: number];
  readonly operations?: readonly OperationKind[];
};

function declare(
  { weights: [west, east, spare], operations, ...fields }: Declared,
  without: readonly Name[] = [],
): void {
  harness.addGateway({
    ...{ gatewayId: "gw_main", publicId: "main", ...(operations && { operations }) },
    upstreams: NAMES.map((name) =>
      upstreamOf(upstreams[name].url, "openai", { name, ...(without.includes(name) && { credential: null }) }),
    ),
    routes: [
      routeOf("fast", {
        ...{ upstream: "west", weight: west },
        fallbacks: [
          { upstream: "east", upstreamModel: "east-model", weight: east },
          { upstream: "spare", upstreamModel: "spare-model", weight: spare },
        ],
        ...fields,
      }),
    ],
  });
}

async function ask(key: string): Promise<{ status: number; by: string }> {
  const answer = await fetch(`${harness.url}/g/main/v1/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ model: "fast" }),
  });
  return { status: answer.status, by: String(await answer.json()) };
}

const asked = () => NAMES.map((name) => upstreams[name].received.length);
const failing = (name: Name) => upstreams[name].answerWith((response) => response.writeHead(503).end(`"${name}"`));

test("b415: upstreams with a weight share the calls, each with its own model; another one is asked once they have failed", async () => {
  declare({ weights: [5, 1] });
  const key = harness.addKey();
  for (let i = 0; i < 120; i++) expect((await ask(key)).status).toBe(200);
  const [west = 0, east = 0, spare] = asked();
  expect([west + east, spare]).toEqual([120, 0]);
  // Six standard deviations.
  expect(Math.abs(west - 100)).toBeLessThan(25);
  expect(JSON.parse(String(upstreams.east.received[0]?.body))).toEqual({ model: "east-model" });
  failing("west");
  failing("east");
  expect(await ask(key)).toEqual({ status: 200, by: "spare" });
  expect(asked()).toEqual([west + 1, east + 1, 1]);
});

test("an upstream of weight 0 takes no first call, and is asked once the others have failed", async () => {
  declare({ weights: [0, 2] });
  const key = harness.addKey();
  for (let i = 0; i < 20; i++) expect(await ask(key)).toEqual({ status: 200, by: "east" });
  failing("east");
  expect(await ask(key)).toEqual({ status: 200, by: "west" });
});

test("b415: a sticky route asks the same upstream for all calls of a key, on another server too, and shares the keys", async () => {
  declare({ weights: [1, 1], sticky: "Key" });
  const keys = Array.from({ length: 12 }, (_, i) => ({
    keyId: `key_${i}`,
    plaintext: harness.addKey({ keyId: `key_${i}` }),
  }));
  const homes = new Map<string, string>();
  for (const { keyId, plaintext } of keys) homes.set(keyId, (await ask(plaintext)).by);
  expect(new Set(homes.values())).toEqual(new Set(["west", "east"]));
  for (const { keyId, plaintext } of keys) expect((await ask(plaintext)).by).toBe(homes.get(keyId));
  await harness.close();
  harness = await startGateway();
  declare({ weights: [1, 1], sticky: "Key" });
  for (const { keyId } of keys) expect((await ask(harness.addKey({ keyId }))).by).toBe(homes.get(keyId));
});

test("a sticky key goes elsewhere while its upstream is left out, and comes back", async () => {
  declare({ weights: [1, 1], sticky: "Key" });
  const key = harness.addKey();
  const home = (await ask(key)).by === "west" ? "west" : "east";
  const other = home === "west" ? "east" : "west";
  failing(home);
  for (let i = 0; i < 8; i++) expect(await ask(key)).toEqual({ status: 200, by: other });
  expect(upstreams[home].received.length).toBe(6);
  upstreams[home].answerWith((response) => response.end(JSON.stringify(home)));
  harness.clock.advance(5_000);
  for (let i = 0; i < 3; i++) expect((await ask(key)).by).toBe(home);
});

test("b415: a call asks each upstream once, and passes over none, whatever becomes of the weights meanwhile", async () => {
  const orders: Declared[] = [
    { weights: [1, 1, 1] },
    { weights: [1, 1_000_000] },
    { weights: [0, 5, 1], sticky: "Key" },
    { weights: [] },
  ];
  let next = 0;
  for (const name of NAMES) {
    upstreams[name].answerWith((response) => {
      declare(orders[next++ % orders.length] ?? { weights: [] });
      response.writeHead(429).end("{}");
    });
  }
  const key = harness.addKey();
  declare({ weights: [1, 1, 1] });
  for (let i = 1; i <= 12; i++) {
    expect((await ask(key)).status).toBe(429);
    expect(asked()).toEqual([i, i, i]);
  }
});

test("an upstream whose credential is missing takes no calls of those that have theirs", async () => {
  declare({ weights: [1, 1] }, ["west"]);
  const key = harness.addKey();
  for (let i = 0; i < 20; i++) expect(await ask(key)).toEqual({ status: 200, by: "east" });
  failing("east");
  expect(await ask(key)).toEqual({ status: 200, by: "spare" });
});

test("b416: a library asks its route's own upstream alone, whatever the weights, so that its vectors are of one model", async () => {
  const [digest] = [keyDigest(harness.addKey())];
  const caller = createLibraryCaller(harness.deps, { formats: EMBEDDING_FORMATS, userAgent: "test" });
  const call = { digest, publicId: "main", model: "fast", timeoutMs: 5_000, maxAnswer: 1_000, body: () => ({}) };
  for (const weights of [
    [1, 1_000_000],
    [0, 1],
  ] as const) {
    declare({ weights });
    for (let i = 0; i < 5; i++) {
      expect(await caller.call(call)).toMatchObject({ kind: "answered", servedBy: "west openai real-fast" });
    }
  }
  await caller.close();
});

/** An upstream that keeps responses by account, and knows no others'. */
function keepingAccounts() {
  const made = new Map<string, string>();
  return (response: ServerResponse, { url = "", method, headers, body }: Received) => {
    const account = String(headers.authorization);
    const said = method === "POST" ? JSON.parse(String(body)) : {};
    const named = said.previous_response_id ?? /resp_\d+$/.exec(url)?.[0];
    const isUnknown = named !== undefined && made.get(named) !== account;
    const id = url === "/v1/files" ? `file-${made.size}` : `resp_${made.size}`;
    if (method === "POST" && !isUnknown) made.set(id, account);
    response.writeHead(isUnknown ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify({ id: named ?? id, object: "response", output: [] }));
  };
}

test.each([
  ["of weight 0 before the other", ["west", "east"], [0, 1]],
  ["with the other before it", ["east", "west"], [1, 1]],
  ["of weight 0 behind the other", ["east", "west"], [0, 1]],
] as const)(
  "b416: of two accounts at one origin, one %s, what is stored is read, named and deleted at the one that has it",
  async (_, order, [west, east]) => {
    upstreams.west.answerWith(keepingAccounts());
    harness.addGateway({
      ...{ gatewayId: "gw_main", publicId: "main", operations: ["generate", "responses"] },
      upstreams: order.map((name) => upstreamOf(upstreams.west.url, "openai", { name, credential: `sk-${name}` })),
      routes: [
        routeOf("fast", {
          ...{ upstream: "west", weight: west },
          fallbacks: [{ upstream: "east", upstreamModel: "real-fast", weight: east }],
        }),
      ],
    });
    const headers = { "x-api-key": harness.addKey(), "content-type": "application/json" };
    const call = async (method: string, path: string, body?: object) => {
      const sent = body && { body: JSON.stringify({ model: "fast", input: "Hello", ...body }) };
      const answer = await fetch(`${harness.url}/g/main/v1/responses${path}`, { method, headers, ...sent });
      return { status: answer.status, id: String(((await answer.json()) as { id: unknown }).id) };
    };
    for (let i = 0; i < 8; i++) {
      const { id } = await call("POST", "", {});
      expect((await call("POST", "", { previous_response_id: id })).status).toBe(200);
      expect((await call("GET", `/${id}`)).status).toBe(200);
      expect((await call("DELETE", `/${id}`)).status).toBe(200);
    }
  },
);

test("b416: a call that has something stored goes to no other account at its place where that fails, and another call does", async () => {
  upstreams.west.answerWith((response, { headers }) =>
    response.writeHead(headers.authorization === "Bearer sk-west" ? 429 : 200).end("{}"),
  );
  harness.addGateway({
    ...{ gatewayId: "gw_main", publicId: "main" },
    upstreams: ["west", "east"].map((name) =>
      upstreamOf(upstreams.west.url, "openai", { name, credential: `sk-${name}` }),
    ),
    routes: [
      routeOf("fast", {
        ...{ upstream: "west", weight: 1 },
        fallbacks: [{ upstream: "east", upstreamModel: "real-fast", weight: 1 }],
      }),
    ],
  });
  const respond = (body: object) =>
    fetch(`${harness.url}/g/main/v1/responses`, {
      method: "POST",
      headers: { "x-api-key": harness.addKey(), "content-type": "application/json" },
      body: JSON.stringify({ model: "fast", input: "Hello", ...body }),
    }).then(({ status }) => status);
  expect([await respond({}), await respond({ store: false })]).toEqual([429, 200]);
});

test("b416: where a gateway serves files, a response is stored where they are", async () => {
  declare({ weights: [1, 1] });
  const { west, east } = upstreams;
  for (const { answerWith } of [west, east]) answerWith((response) => response.end(`{"id":"resp_${Math.random()}"}`));
  const headers = { "x-api-key": harness.addKey(), "content-type": "application/json" };
  const respond = async () => {
    for (let i = 0; i < 12; i++) {
      const body = JSON.stringify({ model: "fast", input: "Hello" });
      await (await fetch(`${harness.url}/g/main/v1/responses`, { method: "POST", headers, body })).text();
    }
    return asked();
  };
  const [before = 0] = await respond();
  expect(before).toBeLessThan(12);
  declare({ weights: [1, 1], operations: ["generate", "files"] });
  expect((await respond())[0]).toBe(before + 12);
});

test("b416: what is stored is found again: at its own origin, and of two accounts at one origin by the first alone", async () => {
  const kept = [await startKeepingUpstream(), await startKeepingUpstream()];
  const [one, two] = kept.map(({ url }) => url);
  const account = (name: string, url = "") => upstreamOf(url, "openai", { name, credential: `sk-${name}` });
  const route = (weights: readonly [number, number]) =>
    routeOf("fast", {
      ...{ upstream: "west", weight: weights[0] },
      fallbacks: [{ upstream: "east", upstreamModel: "real-fast", weight: weights[1] }],
    });
  const respond = async (body: object) => {
    const answer = await fetch(`${harness.url}/g/main/v1/responses`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ model: "fast", input: "Hello", ...body }),
    });
    expect(answer.status).toBe(200);
    return String((JSON.parse(await answer.text()) as { id: unknown }).id);
  };
  const accounts = () => {
    const all = kept.flatMap(({ received }) => received.map(({ headers }) => headers.authorization));
    for (const { received } of kept) received.length = 0;
    return all;
  };
  const key = harness.addKey();
  const gateway = { gatewayId: "gw_main", publicId: "main" };

  harness.addGateway({ ...gateway, upstreams: [account("west", one), account("east", two)], routes: [route([1, 1])] });
  const ids = [];
  for (let i = 0; i < 24; i++) ids.push(await respond({}));
  expect(new Set(accounts()).size).toBe(2);
  // The upstream that has it not would answer 404.
  for (const id of ids) await respond({ previous_response_id: id });
  accounts();

  harness.addGateway({ ...gateway, upstreams: [account("west", one), account("east", one)], routes: [route([1, 1])] });
  for (let i = 0; i < 12; i++) await respond({ previous_response_id: await respond({}) });
  expect(new Set(accounts())).toEqual(new Set(["Bearer sk-west"]));
  for (let i = 0; i < 24; i++) await respond({ store: false });
  expect(new Set(accounts()).size).toBe(2);
  harness.addGateway({ ...gateway, upstreams: [account("west", one), account("east", one)], routes: [route([0, 1])] });
  for (let i = 0; i < 4; i++) await respond({ previous_response_id: await respond({}) });
  // The calls that read it back know no weight.
  expect(new Set(accounts())).toEqual(new Set(["Bearer sk-west"]));
  const models = { ...route([1, 1]), fallbacks: [{ upstream: "west", upstreamModel: "another", weight: 1 }] };
  harness.addGateway({ ...gateway, upstreams: [account("west", one)], routes: [models] });
  for (let i = 0; i < 24; i++) await respond({});
  const asked = kept.flatMap(({ received }) => received.map(({ body }) => JSON.parse(String(body)).model));
  expect(new Set(asked), "one account shares its models").toEqual(new Set(["real-fast", "another"]));
  for (const { close } of kept) await close();
});

test("b416: a batch is begun at the first of two accounts at one origin, where it is found again", async () => {
  let begun = 0;
  upstreams.west.answerWith((response, { url }) => {
    const id = url.split("/")[4] ?? `msgbatch_${++begun}`;
    response.end(JSON.stringify({ id, type: "message_batch", processing_status: "in_progress" }));
  });
  const accounts = ["one", "two"].map((name) =>
    upstreamOf(upstreams.west.url, "anthropic", { name, credential: `sk-${name}` }),
  );
  const fallbacks = [{ upstream: "two", upstreamModel: "real", weight: 1 }];
  const route = routeOf("fast", { upstream: "one", upstreamModel: "real", weight: 1, fallbacks });
  harness.addGateway({
    ...{ publicId: "main", operations: ["generate", "batches"] },
    ...{ upstreams: accounts, routes: [route] },
  });
  const headers = { "x-api-key": harness.addKey(), "content-type": "application/json" };
  const requests = [{ custom_id: "1", params: { model: "fast", max_tokens: 1, messages: [] } }];
  for (let i = 0; i < 12; i++) {
    const url = `${harness.url}/g/main/v1/messages/batches`;
    const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify({ requests }) });
    expect(answer.status).toBe(200);
    const { id } = (await answer.json()) as { id: string };
    expect((await fetch(`${url}/${id}`, { headers })).status).toBe(200);
  }
  expect(new Set(upstreams.west.received.map((one) => one.headers["x-api-key"]))).toEqual(new Set(["sk-one"]));
});
