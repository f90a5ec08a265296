import { afterEach, describe, expect, test } from "vitest";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../../memory/rest/routes.ts";
import { products } from "../../../processes/products.ts";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import type { CallLimits } from "../../../server/calls/open-streams.ts";
import { gatewayRoutes } from "../../../server/gateway/routes.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { until } from "../../env/until.ts";
import { openMemoryStore } from "../../memory/memory-store.ts";
import { routeOf, upstreamOf } from "../gateway/gateway.ts";
import { startUpstream } from "../gateway/upstream.ts";
import { type Harness, startHarness } from "../harness.ts";
import { answers, openCaller, statusesOf } from "../http/sockets.ts";
import { requestHead } from "../raw-http.ts";
import { type HeldRequest, holdBack } from "./held-back.ts";

const KIB = 1_024;
const LARGE = `{"content":"${"x".repeat(100 * KIB)}"}`;
const SMALL = `{"content":"${"x".repeat(2 * KIB)}"}`;
const TINY = '{"content":"x"}';
/** What 259 saves of a team would fill by far, and four bodies of 100 KiB in its part for large ones. */
const LIMITS = { kept: 512 * KIB };

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server with the memory, MCP and gateways of `team-a`, whose upstream answers at once. */
async function startTeams(calls: Partial<CallLimits>): Promise<Harness> {
  const store = await openMemoryStore();
  closers.push(() => store.close());
  const upstream = await startUpstream();
  closers.push(() => upstream.close());
  const mounts = [memoryRoutes, mcpRoutes, gatewayRoutes].map((routes) => ({
    at: "",
    routes: (...[app, deps]: Parameters<typeof memoryRoutes>) => routes(app, deps),
  }));
  const harness = await startHarness({ mounts, store, calls });
  closers.push(() => harness.close());
  const upstreams = [upstreamOf(upstream.url)];
  harness.addGateway({ publicId: "routed", upstreams, routes: [routeOf("fast")] });
  harness.addGateway({ publicId: "plain", upstreams });
  return harness;
}

/** Keys of a team that is not `team-a`. */
const keysOf = (harness: Harness, teamId: string, count: number) =>
  Array.from({ length: count }, () => harness.addKey({ teamId }));
const kept = ({ deps }: Harness) => deps.streams.figures().keptBytes;
const statusOf = (one: HeldRequest) => Number(/^HTTP\/1\.1 (\d{3})/.exec(one.text())?.[1] ?? 0);

type HeldSave = HeldRequest & { readonly sent: number };

/** So many saves, each without its last byte. */
function hold(harness: Harness, keys: readonly string[], count: number, body: string): HeldSave[] {
  return Array.from({ length: count }, (_, n) => ({
    ...holdBack({ port: harness.port, key: keys[n % keys.length] ?? "" }, "POST /atoms", body),
    sent: body.length - 1,
  }));
}

/** Waits until each of all saves that are held back is kept, or answered. */
function settled(harness: Harness, held: readonly HeldSave[]): Promise<unknown> {
  return until("each body is kept or answered", () => {
    const waiting = held.filter((one) => one.text() === "");
    return kept(harness) >= waiting.reduce((sum, { sent }) => sum + sent, 0);
  });
}

/** The statuses of another team's saves, over REST and MCP, and of its calls of a model. */
async function callsOf(harness: Harness, key: string): Promise<number[]> {
  const post = async (path: string, body: unknown) => {
    const accept = "application/json, text/event-stream";
    const headers = { "x-api-key": key, "content-type": "application/json", accept };
    const answer = await fetch(harness.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await answer.text();
    return text.includes('"isError":true') ? 500 : answer.status;
  };
  const statuses: number[] = [];
  for (let n = 0; n < 5; n++) {
    const atom = { library: "handbook", content: `What team-a remembers as number ${n}. ${"y".repeat(300)}` };
    const params = { name: "memory_save_atom", arguments: { ...atom, allowDuplicate: true } };
    statuses.push(await post("/atoms", atom));
    statuses.push(await post("/api/v1/memory/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params }));
    for (const gateway of ["routed", "plain"]) {
      statuses.push(await post(`/g/${gateway}/v1/embeddings`, { model: "fast", input: "z".repeat(2 * KIB) }));
    }
  }
  return statuses;
}

const ALL_DONE = Array.from({ length: 5 }, () => [201, 200, 200, 200]).flat();

describe("what one team's bodies hold", () => {
  test.each([
    ...(NIGHTLY
      ? ([
          ["of 100 KiB", [[LARGE, 60]]],
          ["of 2 KiB", [[SMALL, 240]]],
        ] as const)
      : []),
    [
      "of every size",
      [
        [LARGE, 60],
        [SMALL, 60],
        [TINY, 139],
      ],
    ],
  ] as const)("b110: three keys' stalled saves %s refuse no call of another team", async (_size, sizes) => {
    const harness = await startTeams(LIMITS);
    const key = harness.addKey();
    await harness.whenStored();
    const keys = keysOf(harness, "team-b", 3);
    const held: HeldSave[] = [];
    for (const [body, count] of sizes) {
      held.push(...hold(harness, keys, count, body));
      await settled(harness, held);
    }
    expect(await callsOf(harness, key)).toEqual(ALL_DONE);
    // Its part of the reserve, and of the other room a quarter, or one body that is larger than that.
    await until("it has its parts alone", () => kept(harness) <= LIMITS.kept / 16 + LARGE.length);
    // Only its own team's calls beyond the bound are refused, with advice to try again.
    expect([...new Set(held.map(statusOf))].toSorted()).toEqual([0, 429]);
    const ofTeam = "The open calls of this team have reached their limit of memory: try again later.";
    expect(held.map((one) => one.text()).find((text) => text.includes(ofTeam))).toMatch(/^retry-after: 1\r$/im);
    for (const { leave } of held) leave();
    await until("nothing is kept", () => kept(harness) === 0);
  });

  test("b110: where all is full, the body goes that was waited for the longest", async () => {
    const harness = await startTeams(LIMITS);
    const held: HeldSave[] = [];
    for (const teamId of ["team-1", "team-2", "team-3", "team-4"]) {
      held.push(...hold(harness, keysOf(harness, teamId, 1), 1, LARGE));
      await settled(harness, held);
    }
    const [longest, ...later] = held;
    expect(await longest?.answer).toMatchObject({ status: 503, text: expect.stringMatching(/^retry-after: 1\r$/im) });
    expect(later.map(statusOf)).toEqual([0, 0, 0]);
    for (const { leave } of later) leave();
    await until("nothing is kept", () => kept(harness) === 0);
  });

  test("b110: a call of a model that made way keeps nothing of what still comes", async () => {
    const harness = await startTeams({ kept: 64 * KIB });
    const body = `{"model":"fast","input":"${"x".repeat(16 * KIB - 27)}"}`;
    const [key = ""] = keysOf(harness, "team-a", 1);
    const held = [`X-API-Key: ${key}`, `Content-Length: ${body.length}`];
    // One in the reserve, whose next byte is waited for the longest, and three in the room of all.
    const first = openCaller(harness.port);
    first.socket.write(requestHead("POST /g/routed/v1/embeddings HTTP/1.1", held) + body.slice(0, -1));
    await until("the first is kept", () => kept(harness) === body.length - 1);
    const others = ["team-1", "team-2", "team-3"].flatMap((id) => hold(harness, keysOf(harness, id, 1), 1, body));
    await until("all are kept", () => kept(harness) === 4 * (body.length - 1));
    hold(harness, keysOf(harness, "team-4", 1), 1, SMALL);
    await answers(first, 1);
    first.socket.write(body.slice(-1) + requestHead("GET /atoms?limit=1 HTTP/1.1", [`X-API-Key: ${key}`]));
    await answers(first, 2);
    expect(statusesOf(first)).toEqual([503, 200]);
    for (const { leave } of others) leave();
    await until("the last alone is kept", () => kept(harness) === SMALL.length - 1);
    first.socket.destroy();
  });

  test("b110: a body larger than its key's and its team's part is let in where it is their only one", async () => {
    const harness = await startTeams(LIMITS);
    const body = `{"content":"${"x".repeat(300 * KIB)}"}`;
    const held = hold(harness, keysOf(harness, "team-b", 1), 1, body);
    await settled(harness, held);
    expect(held.map(statusOf)).toEqual([0]);
    for (const { leave } of held) leave();
  });

  test("b110: a body in chunks of one byte holds what its pieces take", async () => {
    const harness = await startTeams(LIMITS);
    const [key = ""] = keysOf(harness, "team-b", 1);
    const caller = openCaller(harness.port);
    const headers = [`X-API-Key: ${key}`, "Content-Type: application/json", "Transfer-Encoding: chunked"];
    const chunks = [...`{"content":"${"x".repeat(2 * KIB)}"}`].map((byte) => `1\r\n${byte}\r\n`);
    caller.socket.write(`${requestHead("POST /atoms HTTP/1.1", headers)}${chunks.join("")}0\r\n\r\n`);
    await answers(caller, 1);
    expect(statusesOf(caller)).toEqual([503]);
    caller.socket.destroy();
  });

  test("b110: a body of the management API is its caller's, and lets go of its room with its call", async () => {
    const token = managementToken("ci", "kpt_of-this-test");
    const harness = await startHarness({ mounts: products(), managementToken: token, calls: LIMITS });
    closers.push(() => harness.close());
    const open = () =>
      holdBack({ port: harness.port }, "POST /api/v1/keys", LARGE, ["Authorization: Bearer kpt_of-this-test"]);
    const first = open();
    await until("the first is kept", () => kept(harness) === LARGE.length - 1);
    const second = await open().answer;
    expect(second.status).toBe(429);
    expect(second.text).toContain(
      "The open calls of this key or token have reached their limit of memory: try again later.",
    );
    first.leave();
    await until("nothing is kept", () => kept(harness) === 0);
  });
});
