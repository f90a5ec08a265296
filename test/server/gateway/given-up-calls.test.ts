/** What a budget is charged for calls that are given up before all of their answer is there (docs/decisions/budgets.md). */
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { GatewayRecord } from "../../../domain/access/key-record.ts";
import type { Budget } from "../../../domain/budget/budget.ts";
import type { BudgetGrants } from "../../../server/budgets/budget-grants.ts";
import type { UpstreamTimes } from "../../../server/gateway/upstream/upstream-times.ts";
import { until } from "../../env/until.ts";
import { budgetsOn, ledgerInMemory } from "../budgets/ledger.ts";
import type { Harness } from "../harness.ts";
import { ownersOfAll } from "../ownership/owners-of-all.ts";
import { routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { rawUpstream } from "./raw-upstream.ts";
import { startUpstream } from "./upstream.ts";

/** An upstream that never gives all of an answer, what it gives, and the connections by which it was sent something. */
let silent: Awaited<ReturnType<typeof rawUpstream>>;
let begun: Buffer;
let connections: Set<Socket>;
let harness: Harness;
let ledger: ReturnType<typeof ledgerInMemory>;
let budgets: BudgetGrants | undefined;
/** Of the calls that were opened last. */
let key: string;
beforeEach(async () => {
  connections = new Set();
  begun = Buffer.alloc(0);
  silent = await rawUpstream((socket) => {
    connections.add(socket);
    socket.write(begun);
    begun = Buffer.alloc(0);
  });
  await start();
});
async function start(times: Partial<UpstreamTimes> = {}): Promise<void> {
  await harness?.close();
  ledger = ledgerInMemory();
  harness = await startGateway({
    times,
    owners: ownersOfAll([silent.url]),
    budgets(clock) {
      budgets = budgetsOn(ledger.write, clock);
      return budgets;
    },
  });
}
afterEach(async () => {
  await harness.close();
  silent.close();
});

const BODY = JSON.stringify({ model: "fast", max_tokens: 500 });
const RESERVED = BODY.length + 500;

function open(
  url: string,
  tokens: number,
  fields: Partial<GatewayRecord> = {},
  body: string | ReadableStream = BODY,
  path = "chat/completions",
) {
  harness.addGateway({ gatewayId: "gw_main", publicId: "main", upstreams: [upstreamOf(url)], ...fields });
  return callWith({ tokens, period: "Month", timeZone: "UTC", onExhausted: "Refuse" }, body, path);
}

function callWith(budget: Budget, body: string | ReadableStream, path = "chat/completions") {
  const items = [budget];
  key = harness.addKey({ budgets: { owner: "team-a c/ns/reader", items } });
  return (signal?: AbortSignal) =>
    fetch(`${harness.url}/g/main/v1/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body,
      duplex: "half",
      ...(signal && { signal }),
    });
}

/** Makes a call, and leaves once the upstream was sent something. */
async function giveUp(call: (signal: AbortSignal) => Promise<Response>): Promise<void> {
  const before = connections.size;
  const leaving = new AbortController();
  const answer = call(leaving.signal).catch(() => {});
  await until("the upstream was sent something", () => connections.size > before);
  leaving.abort();
  await answer;
}

test("b177: a caller who gives up and tries again is charged what each call had reserved, until the budget is used up", async () => {
  const call = open(silent.url, 2 * RESERVED);
  await giveUp(call);
  await giveUp(call);
  expect(await charged()).toBe(2 * RESERVED);
  const refused = await call();
  expect(refused.status).toBe(429);
  const said = await refused.text();
  const used = (2 * RESERVED).toLocaleString("en-US");
  for (const part of ["budget_exceeded", `${used} are used`]) expect(said).toContain(part);
});

/** What the budget was charged, once no call holds any of it. */
async function charged(): Promise<number> {
  const sum = () => ledger.sumOf("key team-a c/ns/reader tokens Month", "2026-11-01");
  await until("the rest is given back", async () => {
    await budgets?.endRound();
    return sum().held === 0;
  });
  return sum().spent;
}

test("b229: of several answers, or answers to several prompts, each may be as long as the call lets one be", async () => {
  const answers = JSON.stringify({ model: "fast", max_tokens: 500, n: 4 });
  await giveUp(open(silent.url, 10_000, {}, answers));
  expect(await charged()).toBe(answers.length + 4 * 500);
  await start();
  const prompts = JSON.stringify({ model: "fast", max_tokens: 500, n: 2, best_of: 3, prompt: ["a", [1, 2], "b"] });
  await giveUp(open(silent.url, 10_000, {}, prompts, "completions"));
  expect(await charged()).toBe(prompts.length + 9 * 500);
});

test("b177: a call that is given up while its upstream is connected to has used nothing", async () => {
  // It never answers TLS's greeting.
  await giveUp(open(silent.url.replace("http:", "https:"), RESERVED));
  expect(await charged()).toBe(0);
});

test("b200: a call whose upstream does not answer in time is charged what it had reserved", async () => {
  await start({ head: 200 });
  const answer = await open(silent.url, RESERVED)();
  expect(answer.status).toBe(504);
  expect(await charged()).toBe(RESERVED);
});

test("b200: so is one whose fallback then fails: the first upstream may go on with it", async () => {
  await start({ headWithFallback: 200 });
  const gone = await rawUpstream(() => {});
  await new Promise((resolve) => gone.close(resolve));
  const answer = await open(silent.url, 10_000, withFallback(silent.url, gone.url))();
  expect(answer.status).toBe(502);
  expect(await charged()).toBe(RESERVED);
});

test("b209: what a first upstream may have done that did not answer in time is charged beside what its fallback has used", async () => {
  await start({ headWithFallback: 200 });
  const usage = { prompt_tokens: 10, completion_tokens: 5 };
  const spare = await startUpstream((response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ usage })),
  );
  const answer = await open(silent.url, 10_000, withFallback(silent.url, spare.url))();
  await spare.close();
  expect(answer.status).toBe(200);
  expect(await charged()).toBe(RESERVED + 15);
});

/** A route to one upstream, and to another one where that fails. */
function withFallback(url: string, fallback: string): Partial<GatewayRecord> {
  return {
    upstreams: [upstreamOf(url), { ...upstreamOf(fallback), name: "spare" }],
    routes: [routeOf("fast", { fallbacks: [{ upstream: "spare", upstreamModel: "real" }] })],
  };
}

test.each([503, 401])(
  "b208: a call whose first upstream answers %i, and which may not go on to its fallback, has used nothing",
  async (status) => {
    const failing = await rawUpstream((socket) => {
      harness.setCurrent(false);
      socket.write(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    });
    const answer = await open(failing.url, RESERVED, withFallback(failing.url, silent.url))();
    failing.close();
    expect([answer.status, connections.size]).toEqual([503, 0]);
    expect(await charged()).toBe(0);
  },
);

test("b208: a call whose key ends while its upstream is at work on it is charged what it had reserved", async () => {
  const answer = open(silent.url, RESERVED)();
  await until("the upstream was sent something", () => connections.size > 0);
  harness.changeKey(key, { state: "revoked" });
  expect((await answer).status).toBe(401);
  expect(await charged()).toBe(RESERVED);
});

test("b208: a call whose caller leaves before an error is shown that was held back has used nothing", async () => {
  begun = Buffer.from("HTTP/1.1 400 No\r\ncontent-encoding: gzip\r\ncontent-length: 9\r\n\r\n");
  await giveUp(open(silent.url, RESERVED));
  expect(await charged()).toBe(0);
});

test("b230: a body whose length is not declared is reserved by what is in it", async () => {
  const text = `${" ".repeat(20_000)}${BODY}`;
  await giveUp(open(silent.url, 100_000, {}, streamOf(text, true)));
  expect(await charged()).toBe(text.length + 500);
});

test("b230: a call whose body has not come to its end is not made: some upstreams begin where its text is whole", async () => {
  const leaving = new AbortController();
  const unended = open(silent.url, 10_000, {}, streamOf(BODY, false))(leaving.signal).catch(() => {});
  await giveUp(callWith({ tokens: 10_000, period: "Month", timeZone: "UTC", onExhausted: "Refuse" }, BODY));
  expect(connections.size).toBe(1);
  leaving.abort();
  await unended;
  expect(await charged()).toBe(RESERVED);
});

function streamOf(text: string, ends: boolean): ReadableStream {
  return new ReadableStream({
    start(body) {
      body.enqueue(Buffer.from(text));
      if (ends) body.close();
    },
  });
}

test("b230: a body in a coding, whose tokens cannot be known, is refused where they are counted", async () => {
  open(silent.url, 10_000);
  const coded = await fetch(`${harness.url}/g/main/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "content-encoding": "gzip" },
    body: gzipSync(BODY),
    signal: AbortSignal.timeout(5_000),
  });
  expect([coded.status, coded.headers.get("accept-encoding"), connections.size]).toEqual([415, "identity", 0]);
});

test("b237: a body that is deeper than is read, behind which it may ask for any number of answers, is refused", async () => {
  const deep = `{"x":${"[".repeat(300)}${"]".repeat(300)},"n":128,"max_tokens":500}`;
  const answer = await open(silent.url, 100_000, {}, deep)(AbortSignal.timeout(5_000));
  expect([answer.status, connections.size]).toEqual([400, 0]);
  expect(await answer.text()).toContain("nested more than 256 deep");
  expect(await charged()).toBe(0);
});

/** Calls, leaves once this much of an answer is there, and says what that was charged. */
async function chargedAfter(headers: string, body: Buffer): Promise<number> {
  const piece = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n")]);
  begun = Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${headers}\r\ntransfer-encoding: chunked\r\n\r\n`), piece]);
  const leaving = new AbortController();
  const answer = await open(silent.url, RESERVED)(leaving.signal);
  await answer.body?.getReader().read();
  leaving.abort();
  return charged();
}

test("b201: of a compressed answer that its caller leaves what it says counts, and not the bytes that came", async () => {
  const headers = "content-type: text/event-stream\r\ncontent-encoding: gzip";
  const leftAfter = (events: number) => {
    const zipped = gzipSync("data: {}\n\n".repeat(events));
    expect(zipped.length).toBeLessThan(100);
    return chargedAfter(headers, zipped.subarray(0, -8));
  };
  expect(await leftAfter(400)).toBe(RESERVED);
  await start();
  expect(await leftAfter(2_000), "a token for each event").toBe(2_000);
});

test("b202: an answer that is no stream has been written when it begins: its caller leaves it for what was reserved", async () => {
  expect(await chargedAfter("content-type: application/json", Buffer.from('{"choices":'))).toBe(RESERVED);
  await start();
  const events = Buffer.from("data: {}\n\n");
  expect(await chargedAfter("content-type: text/event-stream", events)).toBe(BODY.length + events.length);
});

test("b204: a caller who says that an answer may have any number of tokens, and leaves, has not used up what only alerts", async () => {
  harness.addGateway({ gatewayId: "gw_main", publicId: "main", upstreams: [upstreamOf(silent.url)] });
  const body = JSON.stringify({ model: "fast", max_tokens: Number.MAX_SAFE_INTEGER });
  await giveUp(callWith({ tokens: 1e9, period: "Month", timeZone: "UTC", onExhausted: "Alert" }, body));
  const spent = await until("it is charged", async () => {
    await budgets?.endRound();
    return ledger.sumOf("key team-a c/ns/reader tokens Month", "2026-11-01").spent || undefined;
  });
  expect(spent).toBe(body.length + 1_048_576);
});

test("b244: a caller who gives up many long answers is charged all that they may have", async () => {
  const body = JSON.stringify({ model: "fast", max_tokens: 100_000, n: 128 });
  await giveUp(open(silent.url, 1e9, {}, body));
  expect(await charged()).toBe(body.length + 12_800_000);
});

const REFERRING = JSON.stringify({ previous_response_id: "resp_1", max_output_tokens: 500, store: false });

test("b242: a call that goes on from an earlier response, and is given up, is charged more than its few bytes", async () => {
  await giveUp(open(silent.url, 100_000, {}, REFERRING, "responses"));
  expect(await charged()).toBe(REFERRING.length + 16_384 + 500);
});

test("b242: so is one that is left before it says what it has read, and none that says it", async () => {
  const events = "data: {}\n\n";
  const leaving = new AbortController();
  begun = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${events}`);
  const left = await open(silent.url, 100_000, {}, REFERRING, "responses")(leaving.signal);
  await left.body?.getReader().read();
  leaving.abort();
  expect(await charged()).toBe(REFERRING.length + 16_384 + events.length);
  await start();
  const usage = JSON.stringify({ usage: { input_tokens: 30, output_tokens: 5 } });
  begun = Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${usage.length}\r\n\r\n${usage}`,
  );
  const whole = await open(silent.url, 100_000, {}, REFERRING, "responses")();
  expect(await whole.json()).toEqual(JSON.parse(usage));
  expect(await charged()).toBe(35);
});

test("b241: an answer in the background is made for no key whose tokens are counted, and says what to do instead", async () => {
  const body = JSON.stringify({ model: "fast", input: "Hello", background: true });
  const refused = await open(silent.url, 100_000, {}, body, "responses")(AbortSignal.timeout(5_000));
  expect([refused.status, connections.size]).toEqual([400, 0]);
  expect(await refused.text()).toContain("Leave it out, and have an answer that takes long stream.");
  expect(await charged()).toBe(0);
});
