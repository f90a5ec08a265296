import { afterEach, expect, test } from "vitest";
import { memoryRoutes } from "../../../memory/rest/routes.ts";
import type { CallLimits } from "../../../server/calls/open-streams.ts";
import { until } from "../../env/until.ts";
import { routeOf, startGateway, upstreamOf } from "../gateway/gateway.ts";
import { startUpstream } from "../gateway/upstream.ts";
import { type Harness, startHarness } from "../harness.ts";
import { type HeldRequest, holdBack } from "./held-back.ts";

const KIB = 1_024;
/** Of a body that holds back its last byte. */
const BODY = `{"model":"fast","input":"${"x".repeat(100 * KIB)}"}`;
/** Of which a key may have 256 KiB of large bodies. */
const LIMITS = { kept: (256 * KIB * 8 * 4) / 3 };
const OF_A_KEY = 256 * KIB;
const TEAMS = ["team-1", "team-2", "team-3", "team-4"];
const INSPECTED = "POST /g/routed/v1/embeddings";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A gateway whose upstream answers when the test lets it; `routed` inspects bodies, `plain` does not. */
async function startHeldGateway(calls: Partial<CallLimits>) {
  const harness = await startGateway({ calls });
  closers.push(() => harness.close());
  const open: (() => void)[] = [];
  const upstream = await startUpstream((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: {}\n\n");
    open.push(() => response.end());
  });
  closers.push(() => upstream.close());
  const upstreams = [upstreamOf(upstream.url)];
  harness.addGateway({ publicId: "routed", upstreams, routes: [routeOf("fast")] });
  harness.addGateway({ publicId: "plain", upstreams });
  for (const team of TEAMS) {
    harness.addGateway({ publicId: `of-${team}`, teamId: team, upstreams, routes: [routeOf("fast")] });
  }
  return { harness, open };
}

const kept = ({ deps }: Harness) => deps.streams.figures().keptBytes;

/** Waits until the server has taken in a body but for its last byte, or has answered. */
function settled(harness: Harness, held: HeldRequest, before: number): Promise<unknown> {
  return until(
    "the body has come or was refused",
    () => held.text() !== "" || kept(harness) >= before + BODY.length - 1,
  );
}

test("b84: what the stalled uploads of one key hold is bounded, beyond it 429, and a caller that leaves makes room", async () => {
  const { harness } = await startHeldGateway(LIMITS);
  const key = harness.addKey();
  const held: HeldRequest[] = [];
  for (let i = 0; i < 2; i++) {
    const before = kept(harness);
    const upload = holdBack({ port: harness.port, key }, INSPECTED, BODY);
    held.push(upload);
    await settled(harness, upload, before);
  }
  const third = await holdBack({ port: harness.port, key }, INSPECTED, BODY).answer;
  expect(third.status).toBe(429);
  expect(third.text).toMatch(/^retry-after: 1\r$/im);
  expect(third.text).toContain('"error":{');
  expect(kept(harness)).toBeLessThanOrEqual(OF_A_KEY);

  held[0]?.leave();
  await until("there is room again", () => kept(harness) < BODY.length);
  const before = kept(harness);
  const again = holdBack({ port: harness.port, key }, INSPECTED, BODY);
  await settled(harness, again, before);
  expect(again.text()).toBe("");
  again.leave();
  held[1]?.leave();
  await until("nothing is kept", () => kept(harness) === 0);
});

test("b84: what all keys hold is bounded for the process: beyond it 503, where all of it is whole and worked on", async () => {
  const { harness, open } = await startHeldGateway({ kept: 480 * KIB });
  const call = (teamId: string) =>
    fetch(`${harness.url}/g/of-${teamId}/v1/embeddings`, {
      method: "POST",
      headers: { "x-api-key": harness.addKey({ teamId }), "content-type": "application/json" },
      body: BODY,
    });
  const held = await Promise.all(TEAMS.slice(0, 3).map(call));
  expect(held.map(({ status }) => status)).toEqual([200, 200, 200]);
  const fourth = await call("team-4");
  expect(fourth.status).toBe(503);
  expect(fourth.headers.get("retry-after")).toBe("1");
  expect(await fourth.text()).toContain("This server holds as many bodies as it can: try again.");
  expect(kept(harness)).toBeLessThanOrEqual(480 * KIB);
  for (const end of open) end();
  await Promise.all(held.map((response) => response.text()));
  await until("nothing is kept", () => kept(harness) === 0);
});

test("b84: a body of the memory counts like one of the gateway", async () => {
  const harness = await startHarness({ mounts: [{ at: "", routes: memoryRoutes }], calls: { kept: 480 * KIB } });
  closers.push(() => harness.close());
  const key = harness.addKey();
  const body = `{"content":"${"x".repeat(100 * KIB)}"}`;
  const first = holdBack({ port: harness.port, key }, "POST /atoms", body);
  await until("the first is kept", () => kept(harness) >= body.length - 1);
  const second = await holdBack({ port: harness.port, key }, "POST /atoms", body).answer;
  expect(second.status).toBe(429);
  first.leave();
  await until("nothing is kept", () => kept(harness) === 0);
});

test("b84: a key has so many calls under way and no more, answers that stream among them, as many as it declares", async () => {
  const { harness, open } = await startHeldGateway({ callsPerKey: 2 });
  const call = (key: string) =>
    fetch(`${harness.url}/g/plain/v1/chat/completions`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: "{}",
    });
  const key = harness.addKey({ keyId: "key_usual" });
  const streams = [await call(key), await call(key)];
  const refused = await call(key);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await refused.text()).toContain(
    "This key has reached its limit of concurrent calls: try again when one of them has ended.",
  );

  const declared = harness.addKey({ keyId: "key_declared", concurrent: 3 });
  const more = [await call(declared), await call(declared), await call(declared)];
  expect(more.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await call(declared)).status).toBe(429);

  for (const end of open.splice(0)) end();
  await Promise.all([...streams, ...more].map((response) => response.text()));
  await until("the calls have ended", () => harness.streams.size === 0);
  const next = await call(key);
  expect(next.status).toBe(200);
  for (const end of open) end();
  await next.text();
});
