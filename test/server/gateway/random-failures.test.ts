/** Routes with retries, times and fallbacks, whose upstreams and callers do anything at any moment. */
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { randomFrom } from "../../env/random.ts";
import { until } from "../../env/until.ts";
import { routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { rawUpstream } from "./raw-upstream.ts";

/** `KEYPLANE_SEED` chooses others. */
const SEED = Number(process.env.KEYPLANE_SEED ?? 1);
const WORKERS = 16;
const CALLS = 20;

test("b405, b406, b407: whatever upstreams and callers do, nothing is held when the calls are over, and upstreams come back", async () => {
  const random = randomFrom(SEED).below;
  const answer = (status: string, body = "{}", more = "") =>
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;
  const behaviours: readonly ((socket: Socket) => void)[] = [
    (socket) => socket.write(answer("200 OK")),
    (socket) => socket.write(answer("503 No")),
    (socket) => socket.write(answer("429 No", "{}", "retry-after: 0\r\n")),
    (socket) => socket.write(answer("401 No")),
    (socket) => socket.write(answer("302 No", "{}", "location: /\r\n")),
    (socket) => socket.write("HTTP/1.1 100 Continue\r\n\r\n".repeat(120)),
    (socket) => socket.write(answer("200 OK", "x".repeat(50_000)).slice(0, 20_000)),
    (socket) => socket.end(answer("200 OK").slice(0, 30)),
    (socket) => socket.destroy(),
    (socket) => socket.resetAndDestroy(),
    () => {},
  ];
  let isWell = false;
  const start = () =>
    rawUpstream((socket) => {
      if (isWell) socket.write(answer("200 OK"));
      else behaviours[random(behaviours.length)]?.(socket);
    });
  const upstreams = [await start(), await start(), await start()];
  const [first, second, third] = upstreams.map(({ url }) => url);
  const harness = await startGateway({
    slots: { calls: 4, queued: 4, queuedMs: 100 },
    times: { head: 500, headWithFallback: 300, silence: 300 },
  });
  const fallbacks = [
    { upstream: "second", upstreamModel: "two" },
    { upstream: "third", upstreamModel: "three" },
  ];
  const usual = {
    ...{ gatewayId: "gw_main", publicId: "main" },
    upstreams: [
      upstreamOf(first ?? ""),
      upstreamOf(second ?? "", "openai", { name: "second" }),
      upstreamOf(third ?? "", "openai", { name: "third" }),
    ],
  };
  const retry = { attempts: 2 };
  const routes = [
    routeOf("all", { fallbacks, retry, timeouts: { firstByteSeconds: 0.4, idleSeconds: 0.2 } }),
    routeOf("retried", { fallbacks, retry }),
    routeOf("timed", { fallbacks, timeouts: { firstByteSeconds: 0.3, idleSeconds: 0.2 } }),
    routeOf("shared", { weight: 2, fallbacks: fallbacks.map((one) => ({ ...one, weight: 1 })), retry }),
    routeOf("sticky", { weight: 1, sticky: "Key", fallbacks: fallbacks.map((one) => ({ ...one, weight: 1 })) }),
    routeOf("only", { retry, timeouts: { firstByteSeconds: 0.4, idleSeconds: 0.2 } }),
  ];
  harness.addGateway({ ...usual, routes });
  const key = harness.addKey();
  const ask = async (model: string, signal: AbortSignal): Promise<number> => {
    const response = await fetch(`${harness.url}/g/main/v1/chat/completions`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ model }),
      signal,
    });
    await response.arrayBuffer();
    return response.status;
  };
  const work = async (): Promise<void> => {
    for (let i = 0; i < CALLS; i++) {
      const model = routes[random(routes.length)]?.model ?? "";
      const signal = random(3) === 0 ? AbortSignal.timeout(1 + random(400)) : AbortSignal.timeout(20_000);
      await ask(model, signal).catch((error: Error) => expect(error.name).not.toBe("AssertionError"));
      if (random(20) === 0) harness.clock.advance(random(60_000));
      if (random(30) === 0) harness.addGateway({ ...usual, routes: routes.toReversed() });
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  await until("nothing is tracked any more", () => harness.streams.size === 0);
  const figure = async (name: string) =>
    (await harness.metrics.registry.getMetricsAsJSON()).find((metric) => metric.name === name)?.values[0]?.value;
  await until("no slot is taken", async () => (await figure("keyplane_upstream_calls")) === 0);
  expect(await figure("keyplane_upstream_calls_queued")).toBe(0);
  isWell = true;
  harness.clock.advance(60_000);
  expect(await figure("keyplane_upstreams_left_out")).toBe(0);
  for (const { model } of routes) expect(await ask(model, AbortSignal.timeout(20_000))).toBe(200);
  await harness.close();
  for (const upstream of upstreams) upstream.close();
}, 120_000);
