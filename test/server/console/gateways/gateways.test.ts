import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NO_FIGURES } from "../../../../domain/usage/token-count.ts";
import { databaseTime } from "../../../../store/database/times.ts";
import { recordOutcomes, type UpstreamOutcome } from "../../../../store/gateways/upstream-outcomes.ts";
import { addTokenCounts } from "../../../../store/keys/uses/token-counts.ts";
import { until } from "../../../env/until.ts";
import { type Pages, startPages } from "../pages.ts";

const CREDENTIAL = "sk-the-provider-s-own-credential";
/** What was heard of upstreams is written once in some seconds: to look more often takes more than all else here. */
const PAUSE_MS = 500;
const HOSTILE = "<script>alert(1)</script>";

let pages: Pages;
let gateway: { id: string; publicID: string };
let secret: string;
/** What the upstream answers. */
let status = 200;
const asked: string[] = [];
const upstream = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  request.resume().on("end", () => response.writeHead(status).end("{}"));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const { port } = upstream.address() as AddressInfo;
  pages = await startPages();
  const members = [{ role: "viewer", subject: "vera" }];
  await pages.send("POST", "/teams", { name: "payments", spec: { members } });
  await pages.send("POST", "/teams", { name: "research", spec: { members: [{ role: "admin", subject: "rob" }] } });
  const spec = {
    upstreams: [
      { name: "primary", dialect: "openai", baseURL: `http://127.0.0.1:${port}`, credential: CREDENTIAL },
      { name: "spare", dialect: "openai", baseURL: "https://spare.example", credential: CREDENTIAL },
      { name: "local", dialect: "openai", baseURL: "http://127.0.0.1:1", noCredential: true },
    ],
    routes: [
      {
        ...{ model: HOSTILE, routeID: "quick", upstream: "primary", upstreamModel: "gpt" },
        fallbacks: [{ upstream: "spare", upstreamModel: "other" }],
        rateLimit: { requestsPerMinute: 600, scope: "Installation", concurrent: 7 },
        retry: { attempts: 2 },
        timeouts: { firstByteSeconds: 30, idleSeconds: 10 },
      },
      {
        ...{ model: "shared", routeID: "shared", upstream: "primary", upstreamModel: "gpt", weight: 3, sticky: "Key" },
        fallbacks: [
          { upstream: "spare", upstreamModel: "other", weight: 1 },
          { upstream: "local", upstreamModel: "small" },
        ],
      },
    ],
  };
  const made = await pages.send("POST", "/gateways", { name: "models", team: "payments", spec });
  expect(made.status, made.text).toBe(201);
  gateway = made.body;
  const bound = { preset: "GatewayDefault", gatewayRef: { name: "models" } };
  secret = (await pages.send("POST", "/keys", { name: "caller", team: "payments", spec: bound })).body.secret;
});
afterAll(async () => {
  await pages.close();
  upstream.close();
});

async function call(): Promise<number> {
  const answer = await fetch(`${pages.url}/g/${gateway.publicID}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt", messages: [] }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Gives an upstream another credential. */
async function replace(upstream: string, credential: string): Promise<void> {
  const { body, headers } = await pages.send("GET", `/gateways/${gateway.id}`);
  const upstreams = body.spec.upstreams.map((one: { name: string }) =>
    one.name === upstream ? { ...one, credential } : one,
  );
  const spec = { ...body.spec, upstreams };
  const etag = headers.get("etag") ?? "";
  expect((await pages.send("PUT", `/gateways/${gateway.id}`, { spec }, { "if-match": etag })).status).toBe(200);
}

/** Has a server have written this of an upstream, a moment ago. */
async function heard(outcome: (at: number) => Partial<UpstreamOutcome>, upstream = "primary"): Promise<void> {
  const { db } = pages.store;
  const at = await databaseTime(db);
  const none = { answeredAt: null, status: null, failedAt: null, failure: null, acceptedAt: null, refusedAt: null };
  await recordOutcomes(db, [{ gatewayId: gateway.id, upstream, ...none, ...outcome(at) }]);
}

/** The state of the upstream `primary`, as the gateway's page has it. */
async function shown(): Promise<string | undefined> {
  const { text } = await pages.get(`/gateways/${gateway.id}`);
  return /primary<\/strong>[\s\S]*?<span class="badge \w*">([^<]+)</.exec(text)?.[1];
}

describe("a gateway's page", () => {
  test("b64: shows that there is a credential, and nothing of it; base URLs, routes and fallbacks", async () => {
    const { text } = await pages.get(`/gateways/${gateway.id}`);
    expect(text).not.toContain(CREDENTIAL);
    expect(text.replaceAll("<wbr>", "")).toContain(`${pages.url}/g/${gateway.publicID}/v1`);
    expect(text).toContain("There, read ");
    expect(text).toContain("gpt at primary");
    expect(text).toContain("other at spare");
    expect(text).toContain("2 more attempts");
    expect(text).toMatch(/gpt at primary<small>weight 3 of 4<[\s\S]*other at spare<small>weight 1 of 4</);
    expect(text).toMatch(/each key stays with one of them<[\s\S]*the others<[\s\S]*small at local</);
    expect(text).toContain("30 s until the answer begins, 10 s without a piece of it");
    expect(text).toContain("600 requests a minute, over all replicas, 7 calls under way");
    expect(text).toMatch(/<a href="\/dashboard\/keys\?bound=gw_[a-z0-9]+">1<\/a> bound to it alone/);
    expect(text).not.toContain(HOSTILE);
  });

  test("says how an upstream was last heard of by calls, and sends it nothing itself", async () => {
    expect(await shown()).toBe("Not asked yet");
    expect(asked).toEqual([]);
    status = 401;
    expect(await call()).toBe(502);
    await until("it is shown", async () => {
      await delay(PAUSE_MS);
      return (await shown()) === "Credential refused";
    });
    const { text } = await pages.get(`/gateways/${gateway.id}`);
    expect(text).toContain("The provider does not take the credential of primary.");
    expect(text).toContain(`PUT /api/v1/gateways/${gateway.id}`);
    expect((await pages.get("/gateways")).text).toContain("Credential refused");
    await replace("primary", "sk-the-present-one");
    expect(await shown()).not.toBe("Credential refused");
    await heard((at) => ({ answeredAt: at, status: 200, acceptedAt: at }));
    expect(await shown()).toBe("Answers");
    await heard((at) => ({ answeredAt: at, status: 503 }));
    expect(await shown()).toBe("Answers with 503");
    await heard((at) => ({ failedAt: at, failure: "The upstream cannot be reached." }));
    expect(await shown()).toBe("Does not answer");
    expect((await pages.get(`/gateways/${gateway.id}`)).text).toContain("The upstream cannot be reached.");
    expect((await pages.get("/gateways")).text).toContain("Does not answer");
    expect(asked).toHaveLength(1);
  });

  test("says that an upstream is called without a credential, and that it asks for one", async () => {
    expect((await pages.get(`/gateways/${gateway.id}`)).text).toContain("None declared: calls go without one");
    await heard((at) => ({ answeredAt: at, status: 401, refusedAt: at + 1 }), "local");
    const { text } = await pages.get(`/gateways/${gateway.id}`);
    expect(text).toContain("Asks for a credential");
    expect(text).toContain("Declared without a credential, and asking for one: local.");
    await heard((at) => ({ answeredAt: at + 2, status: 200, acceptedAt: at + 61_000 }), "local");
    await sql`update upstream_outcomes set refused_at = null where upstream = 'local'`.execute(pages.store.db);
    expect((await pages.get(`/gateways/${gateway.id}`)).text).not.toContain("Asks for a credential");
  });

  test("says which keys' calls were answered lately, and how many of each", async () => {
    const { id: keyId, teamId } = (await pages.send("GET", "/keys?limit=1")).body.items[0];
    const slot = Math.floor(Date.now() / 300_000) * 300_000;
    const counts = [gateway.id, "another"].map((gatewayId, i) => ({
      ...{ keyId, teamId, slot, gatewayId, routeId: "", model: "gpt-seen" },
      figures: { ...NO_FIGURES, calls: 70 + i, input: 1_000 },
    }));
    await addTokenCounts(pages.store, counts, () => {});
    for (const range of ["hour", "day"]) {
      const { text } = await pages.get(`/gateways/${gateway.id}?usage=${range}`);
      const byKey = /aria-label="Usage by key".*?<\/table>/s.exec(text)?.[0].replace(/<[^>]*>/g, " ");
      expect(byKey).toMatch(/Answers.*caller\s+7\d\s/s);
      expect(byKey).not.toMatch(/14\d|Requests/);
      expect(text).toContain(`href="/dashboard/gateways/${gateway.id}?usage=hour#usage"`);
      expect(text).toContain("gpt-seen");
    }
  });

  test("keeps since when a credential is there until it is another", async () => {
    const since = async () => {
      const { rows } = await sql<{ at: Date }>`
        select credential_at as at from gateway_upstreams where name = 'spare'`.execute(pages.store.db);
      return rows[0]?.at;
    };
    const first = await since();
    await replace("spare", CREDENTIAL);
    expect(await since()).toEqual(first);
    await replace("spare", "sk-another");
    expect(await since()).not.toEqual(first);
  });

  test("is there for the team's viewer, and not for another team's admin", async () => {
    const path = `/gateways/${gateway.id}`;
    const [vera, rob] = [await pages.as("vera"), await pages.as("rob")];
    expect((await vera.get(path)).status).toBe(200);
    expect((await rob.get(path)).status).toBe(404);
    expect((await vera.get("/gateways")).text).toContain("models");
    expect((await rob.get("/gateways")).text).toContain("No gateways yet");
    expect((await rob.get("/gateways?team=payments")).text).toContain("No gateway matches");
  });

  test("b66: is gone with the next request for a member who was removed", async () => {
    const vera = await pages.as("vera");
    await sql`delete from team_members where value = 'vera'`.execute(pages.store.db);
    expect((await vera.get(`/gateways/${gateway.id}`)).status).toBe(404);
  });

  test.for(["?after=x", "?after=%00"])("refuses the list at %s", async (search) => {
    expect((await pages.get(`/gateways${search}`)).status).toBe(400);
  });
});
