import { afterEach, expect, test } from "vitest";
import type { CallLimits } from "../../../server/key-index/open-streams.ts";
import { memoryRoutes } from "../../../server/memory/routes.ts";
import { until } from "../../env/until.ts";
import { routeOf, startGateway, upstreamOf } from "../gateway/gateway.ts";
import { startUpstream } from "../gateway/upstream.ts";
import { type Harness, startHarness } from "../harness.ts";
import { type HeldRequest, holdBack } from "./held-back.ts";

const KIB = 1_024;
/** Of a body that holds back its last byte. */
const BODY = `{"model":"fast","input":"${"x".repeat(100 * KIB)}"}`;
const LIMITS = { keptPerKey: 250 * KIB, kept: 450 * KIB };
const INSPECTED = "POST /g/routed/v1/embeddings";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A gateway whose upstream answers when it is told to; `routed` inspects bodies, `plain` does not. */
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
  expect(kept(harness)).toBeLessThanOrEqual(LIMITS.keptPerKey);

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

test("b84: what all keys hold is bounded for the process, beyond it 503", async () => {
  const { harness } = await startHeldGateway(LIMITS);
  const held: HeldRequest[] = [];
  for (let i = 0; i < 4; i++) {
    const before = kept(harness);
    const upload = holdBack({ port: harness.port, key: harness.addKey({ keyId: `key_${i}` }) }, INSPECTED, BODY);
    held.push(upload);
    await settled(harness, upload, before);
  }
  const fifth = await holdBack({ port: harness.port, key: harness.addKey({ keyId: "key_5" }) }, INSPECTED, BODY).answer;
  expect(fifth.status).toBe(503);
  expect(fifth.text).toMatch(/^retry-after: 1\r$/im);
  expect(kept(harness)).toBeLessThanOrEqual(LIMITS.kept);
  for (const { leave } of held) leave();
  await until("nothing is kept", () => kept(harness) === 0);
});

test("b84: a body of the memory counts like one of the gateway", async () => {
  const harness = await startHarness({ mounts: [{ at: "", routes: memoryRoutes }], calls: { keptPerKey: 150 * KIB } });
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
  expect((await refused.text()).includes("under way")).toBe(true);

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
