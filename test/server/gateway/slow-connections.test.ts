/** Calls that wait for a connection to their upstream, here for the look-up of its name. */
import type { LookupFunction } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { until } from "../../env/until.ts";
import type { Harness } from "../harness.ts";
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
beforeAll(async () => {
  upstream = await startUpstream();
});
beforeEach(async () => {
  harness = await startGateway();
  upstream.received.length = 0;
  declare(PROVIDER_KEY);
});
afterEach(() => harness.close());
afterAll(() => upstream.close());

function declare(credential: string): void {
  const url = upstream.url.replace("127.0.0.1", "upstream.test");
  const upstreams = [upstreamOf(url, "openai", { credential })];
  harness.addGateway({ gatewayId: "gw_main", publicId: "main", upstreams, routes: [routeOf("fast")] });
}

function ask(key: string): Promise<Response> {
  return fetch(`${harness.url}/g/main/v1/chat/completions`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ model: "fast" }),
  });
}

/** Makes a call, and changes something while its upstream's name is looked up. */
async function askMeanwhile(key: string, change: () => void): Promise<Response> {
  const call = ask(key);
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

test("a call of which nothing changes while it is connected is made once", async () => {
  const answer = await askMeanwhile(harness.addKey(), () => {});
  expect([answer.status, upstream.received.length]).toEqual([200, 1]);
});
