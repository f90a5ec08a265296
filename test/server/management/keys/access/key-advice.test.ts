import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { NO_FIGURES } from "../../../../../domain/usage/token-count.ts";
import { recordLibraries } from "../../../../../store/keys/uses/key-libraries.ts";
import { recordNetworks } from "../../../../../store/keys/uses/key-networks.ts";
import { addRequestCounts } from "../../../../../store/keys/uses/request-counts.ts";
import { addTokenCounts } from "../../../../../store/keys/uses/token-counts.ts";
import { heartbeat, readReplicas, registerReplica, removeReplicas } from "../../../../../store/replicas/replicas.ts";
import { keyplane } from "../../../../cli/up.ts";
import { HOUR } from "../../../../store/fixtures.ts";
import { type Pages, startPages } from "../../../console/pages.ts";
import { TOKEN } from "../../api.ts";

const ignore = () => {};
const DAY = 24 * HOUR;
const slot = (Math.floor(Date.now() / DAY) - 2) * DAY;
const HOSTILE = "m\n---\nkind: Secret";

let pages: Pages;
const keys: Record<string, string> = {};

/** Puts the beginning of all that is counted before what is looked at. */
async function age(): Promise<void> {
  const { db } = pages.store;
  await sql`update keys set created_at = created_at - interval '60 days'
    where id in (${keys.used}, ${keys.unused}, ${keys.reader})`.execute(db);
  await sql`update schema_migrations set applied_at = applied_at - interval '60 days'`.execute(db);
  await sql`update networks_known set since = since - interval '60 days'`.execute(db);
  await sql`update libraries_known set since = since - interval '60 days'`.execute(db);
}

beforeAll(async () => {
  pages = await startPages();
  const { store } = pages;
  const team = (await pages.send("POST", "/teams", { name: "research", spec: {} })).body;
  const upstreams = [{ name: "openai", dialect: "openai", baseURL: "https://api.openai.com", credential: "x" }];
  const gateway = (await pages.send("POST", "/gateways", { name: "main", team: "research", spec: { upstreams } })).body;
  for (const name of ["used", "unused", "young"]) {
    const made = await pages.send("POST", "/keys", { name, team: "research", spec: { preset: "GatewayDefault" } });
    keys[name] = made.body.id;
  }
  const libraries: string[] = [];
  for (const name of ["notes", "diary", "inbox"]) {
    libraries.push((await pages.send("POST", "/libraries", { name, team: "research", spec: {} })).body.id);
  }
  const spec = { preset: "MCPReadOnly", mcpDefaultLibraryRef: { name: "inbox" } };
  keys.reader = (await pages.send("POST", "/keys", { name: "reader", team: "research", spec })).body.id;
  const keyId = keys.used ?? "";
  await addRequestCounts(store, [{ keyId, slot, scope: "gateway:generate", count: 100 }], ignore);
  const of = { keyId, slot, gatewayId: gateway.id, routeId: "", model: HOSTILE, teamId: team.id };
  await addTokenCounts(store, [{ ...of, figures: { ...NO_FIGURES, calls: 100, input: 5_000 } }], ignore);
  await recordNetworks(store, [
    { keyId, network: "203.0.113.0/24", day: new Date(Date.now() - DAY).toISOString().slice(0, 10) },
  ]);
  const reader = keys.reader ?? "";
  await addRequestCounts(store, [{ keyId: reader, slot, scope: "memory:read", count: 9 }], ignore);
  const day = new Date(slot).toISOString().slice(0, 10);
  await recordLibraries(
    store,
    libraries.slice(0, 2).map((libraryId) => ({ keyId: reader, libraryId, day })),
  );
  await age();
});
afterAll(() => pages.close());

const advice = (name: string) => pages.send("GET", `/keys/${keys[name]}/advice`);
const advisedSpec = {
  scopes: ["gateway:generate"],
  gatewayRef: { name: "main" },
  allowedCIDRs: ["203.0.113.0/24"],
  rateLimit: { requestsPerMinute: 40, burst: 200, tokensPerMinute: 5_000 },
};

describe("advice of a key", () => {
  test("is by the API what would have been enough for its use, and why", async () => {
    const { status, body } = await advice("used");
    expect([status, body.isUnused, body.lacks]).toEqual([200, false, null]);
    expect(body.points).toContainEqual({
      field: "scopes",
      change: { preset: null, scopes: ["gateway:generate"] },
      why: expect.stringContaining("Preset GatewayDefault stands for"),
    });
    expect(parse(body.manifest).spec).toMatchObject(advisedSpec);
  });

  test("says which key was not used, and which is too young", async () => {
    expect((await advice("unused")).body).toMatchObject({ isUnused: true, lacks: null, points: [] });
    expect((await advice("young")).body).toMatchObject({
      isUnused: false,
      lacks: expect.stringContaining("The key was made at"),
      points: [],
    });
  });

  test("names of its libraries those that it has used", async () => {
    const { body } = await advice("reader");
    const libraryAccess = { mode: "Restricted", libraryRefs: [{ name: "diary" }, { name: "notes" }] };
    expect(body.points).toContainEqual({
      field: "libraryAccess",
      change: { libraryAccess, mcpDefaultLibraryRef: null },
      why: expect.stringContaining("The key may reach 3."),
    });
    expect(parse(body.manifest).spec.libraryAccess).toEqual(libraryAccess);
    expect(parse(body.manifest).spec).not.toHaveProperty("mcpDefaultLibraryRef");
    const env = { KEYPLANE_SERVER: pages.url, KEYPLANE_TOKEN: TOKEN };
    const { out } = await keyplane(["advise", keys.reader ?? ""], env);
    expect(parse(out).spec.libraryAccess).toEqual(libraryAccess);
    expect(out).toMatch(/# Used: (?:diary|notes) last on [^\n]*, (?:diary|notes) last on [^\n]*\n {2}libraryAccess:/);
    expect((await pages.get(`/keys/${keys.reader}?tab=access`)).text).toContain("libraryAccess: {&quot;mode&quot;");
  });

  test("is not for those who may not see the key", async () => {
    await pages.send("POST", "/teams", { name: "payments", spec: { members: [{ role: "viewer", subject: "vera" }] } });
    const vera = await pages.as("vera");
    expect((await vera.get(`/keys/${keys.used}`)).status).toBe(404);
    expect((await pages.send("GET", "/keys/key_00000000000000000000/advice")).status).toBe(404);
  });

  test("b134: is on its page in the console, with a hostile name as text", async () => {
    const { text } = await pages.get(`/keys/${keys.used}?tab=access`);
    expect(text).toContain('<h2 id="advice-title">Advice</h2>');
    expect(text).toContain("gatewayRef: {&quot;name&quot;:&quot;main&quot;}");
    expect(text).not.toContain("\nkind: Secret");
    expect((await pages.get(`/keys/${keys.unused}?tab=access`)).text).toContain("Not used within 30 days.");
    expect((await pages.get(`/keys/${keys.young}?tab=access`)).text).toContain("The key was made at");
  });

  test("is by keyplane advise one manifest, and of a team one for each key", async () => {
    const env = { KEYPLANE_SERVER: pages.url, KEYPLANE_TOKEN: TOKEN };
    const one = await keyplane(["advise", keys.used ?? ""], env);
    expect(one).toMatchObject({ code: 0, err: "" });
    expect(parse(one.out).spec).toMatchObject(advisedSpec);
    const all = await keyplane(["advise", "--team", "research"], env);
    const documents = parseAllDocuments(all.out);
    const manifests = documents.map((document) => document.toJS()).filter((one) => one !== null);
    expect(manifests.map(({ metadata }) => metadata.name).toSorted()).toEqual(["reader", "used"]);
    expect(all.out).toContain("was not used from");
    const items = JSON.parse((await keyplane(["advise", "--team", "research", "-o", "json"], env)).out).items;
    expect(items).toHaveLength(4);
    expect((await keyplane(["advise"], env)).code).toBe(2);
    expect((await keyplane(["advise", keys.used ?? "", "--team", "research"], env)).code).toBe(2);
  });

  test("is by keyplane advise refused for a team that there is not; of one without keys it says so", async () => {
    const env = { KEYPLANE_SERVER: pages.url, KEYPLANE_TOKEN: TOKEN };
    await pages.send("POST", "/teams", { name: "keyless", spec: {} });
    const keyless = await keyplane(["advise", "--team", "keyless"], env);
    expect(keyless).toEqual({ code: 0, out: "# Team keyless has no keys.\n", err: "" });
    const absent = await keyplane(["advise", "--team", "reserch"], env);
    expect([absent.code, absent.out, absent.err]).toEqual([1, "", expect.stringContaining("there is no team reserch")]);
  });

  test("b185: is none once a server was killed, which may have let in the only calls that would have spoken for it", async () => {
    await registerReplica(pages.store, "killed");
    await heartbeat(pages.store, "killed", { seq: 0, id: null }, Date.now());
    const killed = (await readReplicas(pages.store, 0)).replicas.filter(({ id }) => id === "killed");
    await removeReplicas(pages.store, killed);
    for (const name of ["used", "unused", "reader"]) {
      expect((await advice(name)).body).toMatchObject({
        isUnused: false,
        lacks: expect.stringContaining("Uses are counted completely since"),
        points: [],
      });
    }
  });
});
