import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../../runtime/clock.ts";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { makeTeam, unique } from "../../store/fixtures.ts";
import { holdBack } from "../auth/held-back.ts";
import { type Api, startApi, TOKEN } from "./api.ts";

const KEY = { preset: "MCPReadOnly" } as const;
const UPSTREAM = { name: "u", dialect: "openai", baseURL: "http://127.0.0.1:1", credential: "c" } as const;

describeNightlyOnEachEngine("a body of the management API", (store) => {
  let api: Api;
  let team: string;
  beforeAll(async () => {
    api = await startApi(store());
    team = (await makeTeam(store())).name;
  });
  afterAll(() => api.close());

  test("b307: in Latin-1 is 400, or 415 where it says so, and makes nothing", async () => {
    const name = unique("latin");
    const body = Buffer.from(JSON.stringify({ name, team, spec: { displayName: "Größe fünf" } }), "latin1");
    const statuses = await Promise.all(
      ["application/json", "application/json; charset=windows-1252"].map(async (type) => {
        const headers = { authorization: `Bearer ${TOKEN}`, "content-type": type };
        return (await fetch(`${api.url}/api/v1/libraries`, { method: "POST", headers, body })).status;
      }),
    );
    const { body: found } = await api.send("GET", `/libraries?name=${name}`);
    expect([statuses, found.items]).toEqual([[400, 415], []]);
  });

  test.each([
    ["NUL", "a\u0000b"],
    ["the first half of a surrogate pair", "a\ud800b"],
    ["the second half alone", "\udc00"],
  ])("with %s in any text is refused, and is no failure of the server", async (_what, odd) => {
    const bodies: Record<string, object[]> = {
      keys: [
        { team, spec: KEY, reason: `x${odd}` },
        { team, spec: { ...KEY, displayName: odd } },
        { team, spec: { scopes: ["gateway:generate"], allowedModels: [odd] } },
        { team: odd, spec: KEY },
        { team, spec: KEY, namespace: odd },
        { team, spec: { ...KEY, [odd]: 1 } },
      ],
      libraries: [
        { team, spec: { displayName: odd } },
        { team, spec: { description: odd } },
        { team, spec: {}, reason: `x${odd}` },
      ],
      teams: [
        { spec: { displayName: odd } },
        { spec: { members: [{ role: "admin", group: odd }] } },
        { spec: { members: [{ role: "admin", subject: odd }] } },
      ],
      gateways: [
        { team, spec: { upstreams: [{ ...UPSTREAM, baseURL: `http://127.0.0.1:1/${odd}` }] } },
        { team, spec: { upstreams: [UPSTREAM], routes: [{ model: odd, routeID: "r", upstream: "u" }] } },
      ],
    };
    for (const [path, all] of Object.entries(bodies)) {
      for (const body of all) {
        const refused = await api.send("POST", `/${path}`, { name: unique("odd"), ...body });
        expect([refused.status, refused.body.code], JSON.stringify(body)).toEqual([400, "invalid_request"]);
      }
    }
  });

  test("b81: held back until its token was taken away has no effect", async () => {
    const token = { ...managementToken("bootstrap-token", TOKEN) };
    const server = await startApi(store(), {}, systemClock, token);
    const name = unique("held");
    const body = JSON.stringify({ team, name, spec: KEY });
    const headers = [`Authorization: Bearer ${TOKEN}`];
    const held = holdBack({ port: Number(new URL(server.url).port) }, "POST /api/v1/keys", body, headers);
    await until("its head was let through", async () => (await server.send("GET", "/keys")).status === 200);
    token.digest = null;
    held.finish();
    expect((await held.answer).status).toBe(401);
    await server.close();
    const { items } = (await api.send("GET", `/keys?team=${team}`)).body;
    expect(items.map((key: { name: string }) => key.name)).not.toContain(name);
  });

  test.each([
    ["lists", "[", "]"],
    ["mappings", '{"a":', "}"],
  ])("that nests %s without end is refused, and is no failure of the server", async (_what, open, close) => {
    const nested = `${open.repeat(100_000)}1${close.repeat(100_000)}`;
    for (const body of [
      `{"name":"deep","team":"${team}","spec":{"scopes":${nested}}}`,
      `{"name":"deep","team":"${team}","spec":{"unknown":${nested}}}`,
      nested,
    ]) {
      for (const path of ["/keys", "/gateways"]) expect(await post(path, body)).toBe(400);
    }
  });

  test("b94: that names its team twice is refused", async () => {
    const spec = JSON.stringify(KEY);
    expect(await post("/keys", `{"name":"twice","team":"other","team":"${team}","spec":${spec}}`)).toBe(400);
  });

  test("b83: with a megabyte of unknown fields is refused", async () => {
    const fields = Array.from({ length: 80_000 }, (_, i) => `"f${i}":1`).join(",");
    expect(await post("/keys", `{"name":"many","team":"${team}","spec":{${fields}}}`)).toBe(400);
    expect(await post("/keys", `{"name":"many","team":"${team}",${fields}}`)).toBe(400);
  });

  test("b114: in a coding is 415, and nothing is made", async () => {
    const name = unique("coded");
    const body = JSON.stringify({ name, team, spec: KEY });
    expect(await post("/keys", body, { "content-encoding": "gzip" })).toBe(415);
    expect((await api.send("GET", `/keys?name=${name}`)).body.items).toEqual([]);
  });

  /** The status that answers a body as it stands, sent with an idempotency key. */
  async function post(path: string, body: string, more: Record<string, string> = {}): Promise<number | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
      "idempotency-key": unique("deep"),
      ...more,
    };
    const sent = request(`${api.url}/api/v1${path}`, { method: "POST", headers }, (answer) => {
      text(answer).then(() => resolve(answer.statusCode), reject);
    });
    sent.on("error", reject);
    sent.end(body);
    return promise;
  }
});
