/** Responses that upstreams store, with two teams whose gateways have one credential (spec §4). */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Harness } from "../harness.ts";
import { ownersInMemory } from "../ownership/owners-in-memory.ts";
import { routeOf, startGateway, upstreamOf } from "./gateway.ts";
import { startKeepingUpstream } from "./keeping-upstream.ts";

let upstream: Awaited<ReturnType<typeof startKeepingUpstream>>;
let other: Awaited<ReturnType<typeof startKeepingUpstream>>;
let harness: Harness;
const { owners, database, kept } = ownersInMemory();
/** Base URL and key of each team. */
type Team = { readonly url: string; readonly key: string };
let a: Team;
let b: Team;

function teamOf(teamId: string, fields: Parameters<Harness["addGateway"]>[0] = {}, key = {}): Team {
  const gateway = harness.addGateway({ teamId, upstreams: [upstreamOf(upstream.url)], ...fields });
  return { url: `${harness.url}/g/${gateway.publicId}/v1`, key: harness.addKey({ teamId, ...key }) };
}

beforeAll(async () => {
  upstream = await startKeepingUpstream();
  other = await startKeepingUpstream();
  harness = await startGateway({ owners });
});
beforeEach(() => {
  for (const { received, answerWith, respond } of [upstream, other]) {
    received.length = 0;
    answerWith(respond);
  }
  database.isAway = false;
  a = teamOf("team-a");
  b = teamOf("team-b");
});
afterAll(async () => {
  await harness.close();
  await upstream.close();
  await other.close();
});

function ask({ url, key }: Team, method: string, path: string, body?: object | string) {
  return fetch(`${url}/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

async function respond(team: Team, body: object = {}) {
  const answer = await ask(team, "POST", "responses", { model: "m", input: "Hello", ...body });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { id: string; output: [{ id: string }] };
}

test("b450: nothing is compared with another team's response, which is the 404 of an unknown one", async () => {
  const { id } = await respond(a);
  const compare = (response: string) => ({ prompt_cache_options: { comparison_response_id: response } });
  await respond(a, compare(id));
  upstream.received.length = 0;
  const [theirs, unknown] = await Promise.all(
    [id, "resp_unknown"].map((named) => ask(b, "POST", "responses", { model: "m", input: "Hello", ...compare(named) })),
  );
  expect([theirs?.status, await theirs?.text()]).toEqual([404, await unknown?.text()]);
  expect(upstream.received).toHaveLength(0);
});

const REFERENCES = [
  ["previous_response_id", (id: string) => ({ previous_response_id: id })],
  ["conversation", (id: string) => ({ conversation: id })],
  ["conversation's id", (id: string) => ({ conversation: { id } })],
  ["item_reference", (id: string) => ({ input: [{ type: "item_reference", id }] })],
  ["bare item", (id: string) => ({ input: [{ id }] })],
] as const;

test.each(REFERENCES)("b372: a %s of another team is the 404 of an unknown one, and goes nowhere", async (_, refer) => {
  const { id, output } = await respond(a);
  upstream.received.length = 0;
  const answers = [];
  for (const named of [id, output[0].id, "resp_unknown"]) {
    const answer = await ask(b, "POST", "responses", { model: "m", input: "Hello", ...refer(named) });
    const headers = [...answer.headers].filter(
      ([name]) => !["date", "x-keyplane-request-id", "x-request-id"].includes(name),
    );
    answers.push({ status: answer.status, body: await answer.text(), headers });
  }
  expect(answers[0]).toMatchObject({ status: 404, body: expect.stringContaining('"invalid_request_error"') });
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
  expect(upstream.received).toHaveLength(0);
});

test("a team goes on from its own response, names its items, and shares both among its gateways and keys", async () => {
  const { id, output } = await respond(a);
  const second = teamOf("team-a", {
    upstreams: [upstreamOf(`${upstream.url}/v1`, "openai", { credential: "rotated" })],
  });
  for (const team of [a, second]) {
    await respond(team, { previous_response_id: id });
    await respond(team, {
      input: [
        { type: "item_reference", id: output[0].id },
        { role: "user", content: "Hi" },
      ],
    });
  }
});

test("b373: an owner is recorded before the first byte of the answer leaves, of a stream too", async () => {
  for (const stream of [false, true]) {
    const { owners: slow } = ownersInMemory();
    const recorded = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const waiting: Harness["deps"]["owners"] = {
      findOrigins: (...question) => slow.findOrigins(...question),
      end: (...object) => slow.end(...object),
      charge: (...object) => slow.charge(...object),
      isCharged: (...object) => slow.isCharged(...object),
      record: async () => {
        asked.resolve();
        await recorded.promise;
        return [];
      },
    };
    const here = await startGateway({ owners: waiting });
    const gateway = here.addGateway({ upstreams: [upstreamOf(upstream.url)] });
    const team = { url: `${here.url}/g/${gateway.publicId}/v1`, key: here.addKey() };
    let hasHead = false;
    const answer = ask(team, "POST", "responses", { model: "m", input: "Hello", stream }).then((response) => {
      hasHead = true;
      return response.text();
    });
    await asked.promise;
    await new Promise(setImmediate);
    await fetch(`${here.url}/nothing`);
    expect(hasHead).toBe(false);
    recorded.resolve();
    expect(await answer).toContain('"resp_');
    await here.close();
  }
});

test.each([false, true])(
  "b373: while the database is away nothing of a stored answer leaves (stream: %j)",
  async (stream) => {
    database.isAway = true;
    const answer = await ask(a, "POST", "responses", { model: "m", input: "Hello", stream });
    const body = await answer.text();
    expect([answer.status, answer.headers.get("x-keyplane-error-source"), body]).toEqual([
      ...[503, "keyplane", expect.stringContaining('"type":"server_error"')],
    ]);
    expect(body).not.toContain("resp_");
    database.isAway = true;
    const named = await ask(a, "POST", "responses", { model: "m", input: "Hello", previous_response_id: "resp_1" });
    expect(named.status).toBe(503);
    expect(upstream.received).toHaveLength(1);
  },
);

test("of an answer that is not stored nothing is recorded, and the database is not asked", async () => {
  const before = { ...database };
  const size = kept.size;
  database.isAway = true;
  const { id } = await respond(a, { store: false });
  expect([database.records, database.questions, kept.size]).toEqual([before.records, before.questions, size]);
  database.isAway = false;
  expect((await ask(a, "POST", "responses", { model: "m", input: "x", previous_response_id: id })).status).toBe(404);
});

test("an answer in a coding that was not asked for is refused, as what it stores cannot be known", async () => {
  upstream.answerWith((response) => response.writeHead(200, { "content-encoding": "gzip" }).end("\u001f\u008b"));
  const answer = await ask(a, "POST", "responses", { model: "m", input: "Hello" });
  expect(answer.status).toBe(502);
  expect(upstream.received[0]?.headers["accept-encoding"]).toBe("identity");
});

test("an upstream's refusal passes as it is, and an answer that names nothing too", async () => {
  upstream.answerWith((response) => response.writeHead(400).end('{"error":{"message":"no"}}'));
  const refused = await ask(a, "POST", "responses", { model: "m", input: "Hello" });
  expect([refused.status, await refused.text()]).toEqual([400, '{"error":{"message":"no"}}']);
  for (const body of ["{}", "", "no JSON", " ".repeat(300_000)]) {
    upstream.answerWith((response) => response.end(body));
    const answer = await ask(a, "POST", "responses", { model: "m", input: "Hello" });
    expect([answer.status, await answer.text()]).toEqual([200, body]);
  }
});

test("a call that names what one upstream keeps goes there alone, and is refused where it cannot", async () => {
  const upstreams = [upstreamOf(upstream.url), upstreamOf(other.url, "openai", { name: "second" })];
  const fallbacks = [{ upstream: "second", upstreamModel: "m2" }];
  const routes = [routeOf("first", { fallbacks }), routeOf("second", { upstream: "second" })];
  const team = teamOf("team-a", { upstreams, routes });
  upstream.answerWith((response) => response.writeHead(500).end("{}"));
  const { id } = await respond(team, { model: "first" });
  expect(other.responses.has(id)).toBe(true);
  upstream.answerWith(upstream.respond);
  upstream.received.length = 0;
  await respond(team, { model: "first", previous_response_id: id });
  expect(upstream.received).toHaveLength(0);
  const { id: mine } = await respond(team, { model: "first" });
  upstream.answerWith((response) => response.writeHead(500).end("{}"));
  const failed = await ask(team, "POST", "responses", { model: "first", input: "x", previous_response_id: mine });
  expect(failed.status).toBe(500);
  other.received.length = 0;
  const elsewhere = await ask(team, "POST", "responses", { model: "second", input: "x", previous_response_id: mine });
  expect([elsewhere.status, await elsewhere.text()]).toEqual([404, expect.stringContaining("does not go to")]);
  expect(other.received).toHaveLength(0);
});

test("a body that some parsers take for another is refused, by whichever key", async () => {
  const asText = await fetch(`${a.url}/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${a.key}`, "content-type": "text/plain" },
    body: "{}",
  });
  expect(asText.status).toBe(415);
  expect((await ask(a, "POST", "responses", "{")).status).toBe(400);
  expect((await ask(a, "POST", "responses", { previous_response_id: ["x"] })).status).toBe(400);
  expect(upstream.received).toHaveLength(0);
});

test("the usage of a held answer is counted once", async () => {
  harness.answered.length = 0;
  await respond(a);
  await (await ask(a, "POST", "responses", { model: "m", input: "Hello", stream: true })).text();
  expect(harness.answered.map(({ usage }) => [usage.tokens.input, usage.tokens.output, usage.ending])).toEqual([
    ...[
      [3, 2, "reported"],
      [3, 2, "reported"],
    ],
  ]);
});
