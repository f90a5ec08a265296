import { afterEach, beforeEach, expect, test } from "vitest";
import { memoryRoutes } from "../../../memory/rest/routes.ts";
import { gatewayRoutes } from "../../../server/gateway/routes.ts";
import { PROVIDER_KEY, upstreamOf } from "../gateway/gateway.ts";
import { startUpstream, type Upstream } from "../gateway/upstream.ts";
import { type Harness, startHarness } from "../harness.ts";
import { sendRaw } from "../raw-http.ts";

const ID = /^req_[A-Za-z0-9_-]{12}[0-9a-z]+$/;
let upstream: Upstream;
let theirs: Record<string, string> = {};
let harness: Harness;
let key: string;
let chat: string;

beforeEach(async () => {
  theirs = {};
  upstream = await startUpstream((response) => {
    response.writeHead(200, { "content-type": "application/json", ...theirs });
    response.end("{}");
  });
  harness = await startHarness({
    mounts: [
      { at: "", routes: memoryRoutes },
      { at: "", routes: (app, deps) => gatewayRoutes(app, deps) },
    ],
  });
  const { publicId } = harness.addGateway({ upstreams: [upstreamOf(upstream.url)] });
  key = harness.addKey();
  chat = `/g/${publicId}/v1/chat/completions`;
});
afterEach(async () => {
  await harness.close();
  await upstream.close();
});

const ask = (path: string, as = key) =>
  fetch(harness.url + path, { method: "POST", headers: { authorization: `Bearer ${as}` }, body: "{}" });

test("every answer names its request, each another, for Keyplane's users and for their clients", async () => {
  const answers = [
    await ask(chat),
    await ask(chat, "nothing"),
    await ask("/atoms", "nothing"),
    await ask("/nowhere"),
    await fetch(`${harness.url}/openapi.json`),
  ];
  const ids = answers.map(({ headers }) => headers.get("x-keyplane-request-id") ?? "");
  for (const id of ids) expect(id).toMatch(ID);
  expect(new Set(ids).size).toBe(ids.length);
  expect(answers.map(({ headers }) => headers.get("x-request-id"))).toEqual(ids);
});

test.each(["x-request-id", "X-Request-Id", "request-id"])(
  "an upstream's %s stays the client's, beside ours",
  async (name) => {
    theirs = { [name]: "their-id" };
    const { headers } = await ask(chat);
    expect(headers.get(name)).toBe("their-id");
    expect(headers.get("x-keyplane-request-id")).toMatch(ID);
    expect(headers.get("x-request-id")).toBe(name === "request-id" ? null : "their-id");
  },
);

test("an upstream is sent none, and one of its own by our name is not passed on", async () => {
  theirs = { "x-keyplane-request-id": "forged" };
  const { headers } = await ask(chat);
  expect(headers.get("x-keyplane-request-id")).toMatch(ID);
  expect(
    upstream.received.flatMap(({ headers }) => Object.keys(headers)).filter((name) => /request-id/.test(name)),
  ).toEqual([]);
  expect(upstream.received[0]?.headers.authorization).toBe(`Bearer ${PROVIDER_KEY}`);
});

test("a problem document has the id of its head, and a 401 is the same text for every request", async () => {
  const missing = await ask("/nowhere");
  expect(await missing.json()).toMatchObject({ requestId: missing.headers.get("x-keyplane-request-id") });
  const [one, other] = [await ask("/atoms", "nothing"), await ask("/atoms", key.slice(1))];
  expect(await one.text()).toBe(await other.text());
});

test("what is not HTTP is answered with an id too", async () => {
  const { head, body } = await sendRaw(harness.port, "nonsense\r\n\r\n");
  const [, id] = /^x-keyplane-request-id: (req_\S+)/im.exec(head) ?? [];
  expect(JSON.parse(body)).toMatchObject({ requestId: id });
  expect(head).toMatch(new RegExp(`^x-request-id: ${id}\r?$`, "im"));
});

test("the log names the request that failed", async () => {
  await upstream.close();
  const answer = await ask(chat);
  expect(answer.status).toBe(502);
  const line = harness.lines.map((text) => JSON.parse(text)).find(({ msg }) => msg === "an upstream failed");
  expect(line.requestId).toBe(answer.headers.get("x-keyplane-request-id"));
});
