import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TeamRecord } from "../../../domain/access/membership.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { metadataRoutes } from "../../../memory/mcp/metadata-routes.ts";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { products } from "../../../processes/products.ts";
import type { Store } from "../../../store/database/store.ts";
import { until } from "../../env/until.ts";
import { type HeldRequest, holdBack } from "../../server/auth/held-back.ts";
import { type Harness, startHarness } from "../../server/harness.ts";
import { type Issuer, makeSigner, type Signer, sign, startIssuer } from "../../server/management/issuer.ts";
import { openMemoryStore } from "../memory-store.ts";

const PATH = "/api/v1/memory/mcp";
const PUBLIC_URL = new URL("https://keys.example.com");
const RESOURCE = `https://keys.example.com${PATH}`;
const METADATA = `https://keys.example.com/.well-known/oauth-protected-resource${PATH}`;
const CHALLENGE = `resource_metadata="${METADATA}", scope="memory:read memory:write"`;
const TYPES = { accept: "application/json, text/event-stream", "content-type": "application/json" };
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const OTHER_METHODS = ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"];
const LONG_AFTER = Date.UTC(2100, 0) / 1_000;
const SAVE = {
  ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
  params: { name: "memory_save_atom", arguments: { content: "Tokens open the memory.", library: "a-dev/handbook" } },
};

/** Of a server beside the one that serves everything. */
const MCP = [mcpRoutes, metadataRoutes].map((routes) => ({ at: "", routes }));

let store: Store;
let issuer: Issuer;
let signer: Signer;
let server: Harness;
beforeAll(async () => {
  store = await openMemoryStore();
  issuer = await startIssuer();
  signer = await makeSigner("first");
  issuer.keys = [signer.jwk];
  server = await startHarness({ mounts: products(), store, config: configured() });
});
afterAll(async () => {
  await server.close();
  issuer.close();
  await store.close();
});

type Members = TeamRecord["members"];
/** A member with all libraries, but for what is given. */
const as = (role: string, name: string, libraryIds: readonly string[] | null = null) => ({ role, name, libraryIds });
const ANN: Members = [as("member", "subject ann")];
const TEAM_OF_ANN = {
  ...{ teamId: "team-a", name: "a", cluster: "c", defaultLibraryId: null, allowedCIDRs: null, limits: null },
  ...{ members: ANN, revoked: [] },
};

/** Declares who is in a team, as the feed and the database have it. */
async function declare(members: Members, teamId = "team-a"): Promise<void> {
  await sql`delete from team_members where team_id = ${teamId}`.execute(store.db);
  for (const { role, name } of members) {
    const [kind = "", value = ""] = name.split(" ");
    await sql`insert into team_members (team_id, role, kind, value)
      values (${teamId}, ${role}, ${kind}, ${value})`.execute(store.db);
  }
  setMembers(members, teamId);
}

/** Declares it as the feed has it alone. */
function setMembers(members: Members, teamId = "team-a", revoked: TeamRecord["revoked"] = []): void {
  const defaultLibraryId = teamId === "team-a" ? "lib-handbook" : null;
  server.index.applyTeam({
    teamId,
    name: teamId,
    cluster: "c",
    defaultLibraryId,
    allowedCIDRs: null,
    limits: null,
    members,
    revoked,
  });
  server.streams.revalidate((record) => server.index.presentOf(record), server.clock.now());
}

beforeEach(async () => {
  await sql`delete from atoms`.execute(store.db);
  await declare(ANN);
  await declare([], "team-b");
});

function configured() {
  const oidc = { issuers: [issuer.url], audience: "keyplane", adminGroups: ["platform"] };
  return { publicUrl: PUBLIC_URL, oidc };
}

/** One that lives by the test's clock, and by the database's. */
const token = (claims: Readonly<Record<string, unknown>> = {}, header: object = {}, by = signer) =>
  sign(issuer, by, server.clock.now(), {
    claims: { aud: RESOURCE, scope: "memory:read memory:write", exp: LONG_AFTER, ...claims },
    header,
  });

type McpSendOptions = {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  message?: unknown;
  to?: Harness;
};

async function send(
  as: string | undefined,
  { path = PATH, method = "POST", headers = {}, message = LIST, to = server }: McpSendOptions = {},
) {
  const answer = await fetch(to.url + path, {
    method,
    headers: { ...TYPES, ...(as !== undefined && { authorization: `Bearer ${as}` }), ...headers },
    body: method === "POST" ? JSON.stringify(message) : null,
  });
  const text = await answer.text();
  return { status: answer.status, text, challenge: answer.headers.get("www-authenticate"), headers: answer.headers };
}

const toolsOf = (text: string): string[] => [...text.matchAll(/"name":"(memory_\w+)"/g)].map(([, name = ""]) => name);

describe("the metadata of the MCP endpoint", () => {
  test.each(["/.well-known/oauth-protected-resource", `/.well-known/oauth-protected-resource${PATH}`])(
    "is at %s, for pages of any origin too",
    async (path) => {
      const answer = await fetch(server.url + path, { headers: { origin: "https://inspector.example" } });
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(await answer.json()).toEqual({
        resource: RESOURCE,
        authorization_servers: [issuer.url],
        scopes_supported: ["memory:read", "memory:write"],
        bearer_methods_supported: ["header"],
        resource_name: "Keyplane memory",
        resource_documentation: "https://keys.example.com/docs",
      });
      const preflight = await fetch(server.url + path, { method: "OPTIONS" });
      expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([
        204,
        "mcp-protocol-version",
      ]);
    },
  );

  test.each(["issuer", "public URL"])("is not there without an %s, and no answer leads to it", async (lacking) => {
    const config = lacking === "issuer" ? { publicUrl: PUBLIC_URL } : { oidc: configured().oidc };
    const other = await startHarness({ mounts: MCP, store, config });
    for (const path of ["", PATH]) {
      expect((await fetch(`${other.url}/.well-known/oauth-protected-resource${path}`)).status).toBe(404);
    }
    const refused = await send(await token(), { to: other });
    expect([refused.status, refused.challenge]).toEqual([401, "Bearer"]);
    const reader = other.addKey({ scopes: scopeSet(["memory:read"]) });
    const denied = await send(reader, { to: other, message: SAVE });
    expect([denied.status, denied.challenge]).toEqual([403, 'Bearer error="insufficient_scope", scope="memory:write"']);
    await other.close();
  });
});

describe("a caller without a usable credential", () => {
  test("learns where tokens come from", async () => {
    const answer = await send(undefined);
    expect([answer.status, answer.challenge]).toEqual([401, `Bearer ${CHALLENGE}`]);
    for (const method of OTHER_METHODS) {
      const other = await send(undefined, { method });
      expect([method, other.status, other.challenge]).toEqual([method, 401, `Bearer ${CHALLENGE}`]);
    }
  });

  test("learns that a token is at fault where it sent one, and the same otherwise", async () => {
    const none = await send(undefined);
    for (const bad of ["nothing", await token({ aud: "other" })]) {
      const answer = await send(bad);
      expect(answer.challenge).toBe(`Bearer error="invalid_token", ${CHALLENGE}`);
      expect(answer.text).toBe(none.text);
    }
  });
});

describe("a member's token", () => {
  test.each<[string, string, string[], string[]]>([
    ["viewer", "memory:read memory:write", ["memory_recall"], ["memory_save_atom"]],
    ["member", "memory:read memory:write", ["memory_recall", "memory_save_atom"], []],
    ["admin", "memory:read memory:write", ["memory_recall", "memory_save_atom"], []],
    ["member", "openid memory:read", ["memory_recall"], ["memory_save_atom"]],
    ["member", "memory:write gateway:generate", ["memory_save_atom"], ["memory_recall"]],
  ])("of a %s that was asked for %s has its tools, and no others", async (role, scope, has, lacks) => {
    await declare([as(role, "subject ann")]);
    const tools = toolsOf((await send(await token({ scope }))).text);
    expect(tools).toEqual(expect.arrayContaining(has));
    expect(tools.filter((tool) => lacks.includes(tool))).toEqual([]);
  });

  test("names its scopes in `scope`, or else in `scp`, as a list or in one text", async () => {
    const tools = async (claims: object) => toolsOf((await send(await token({ scope: undefined, ...claims }))).text);
    for (const scp of [["openid", "memory:read"], "openid memory:read"]) {
      const readable = await tools({ scp });
      expect(readable).toContain("memory_recall");
      expect(readable).not.toContain("memory_save_atom");
    }
    expect(await tools({ scope: "openid", scp: ["memory:read"] })).toEqual([]);
    expect(await tools({ scp: { 0: "memory:read" } })).toEqual([]);
  });

  test("is of a member by a group and by a ServiceAccount too", async () => {
    await declare([as("viewer", "group readers"), as("member", "serviceAccount ci/deployer")]);
    expect((await send(await token({ groups: ["readers"] }))).status).toBe(200);
    const sub = "system:serviceaccount:ci:deployer";
    const claims = { "kubernetes.io": { namespace: "ci", serviceaccount: { name: "deployer" } } };
    expect((await send(await token({ sub, ...claims }))).status).toBe(200);
    expect((await send(await token({ sub }))).status).toBe(403);
  });

  test("reads and writes the libraries of the team, the default one of its policy where none is named", async () => {
    const content = { content: "Freezes begin on Fridays." };
    const save = { ...SAVE, params: { name: "memory_save_atom", arguments: content } };
    expect((await send(await token(), { message: save })).text).toContain('"library":"a-dev/handbook"');
    const read = { ...SAVE, params: { name: "memory_search", arguments: { query: "Fridays", library: "b/b-notes" } } };
    expect((await send(await token(), { message: read })).text).toContain("There is no library");
  });

  test("reaches the libraries that the strongest of its bearer's roles is given for, and no others", async () => {
    const list = (library: string) => ({ ...SAVE, params: { name: "memory_list", arguments: { library } } });
    const reaches = async (library: string, groups: string[]) =>
      !(await send(await token({ groups }), { message: list(library) })).text.includes("There is no library");
    setMembers([
      as("viewer", "group staff"),
      as("member", "subject ann", ["lib-diary"]),
      as("member", "group b", ["lib-ops"]),
    ]);
    expect([await reaches("a-dev/diary", ["staff"]), await reaches("a-dev/handbook", ["staff"])]).toEqual([
      true,
      false,
    ]);
    expect([await reaches("a-prod/ops", []), await reaches("a-prod/ops", ["b"])]).toEqual([false, true]);
    setMembers([as("member", "subject ann", ["lib-diary"]), as("admin", "group leads")]);
    expect([await reaches("a-dev/handbook", []), await reaches("a-dev/handbook", ["leads"])]).toEqual([false, true]);
  });

  test("of a subject in no team is 403, and leads nowhere", async () => {
    const answer = await send(await token({ sub: "eve", groups: ["platform"] }));
    expect([answer.status, answer.challenge]).toEqual([403, null]);
    expect(server.refused.at(-1)).toMatchObject({
      ...{ cause: "no_member", principal: `${issuer.url}#eve`, keyId: null, teamId: null },
    });
  });

  test("of a member by a role of a later version opens nothing, and adds nothing to another role", async () => {
    setMembers([as("owner", "subject ann")]);
    expect((await send(await token())).status).toBe(403);
    setMembers([as("owner", "subject ann"), as("viewer", "subject ann")]);
    expect(toolsOf((await send(await token())).text)).not.toContain("memory_save_atom");
  });

  test("of a member of several teams needs the address to name one", async () => {
    await declare([as("viewer", "subject ann")], "team-b");
    const several = await send(await token());
    expect([several.status, several.text]).toEqual([400, expect.stringContaining("?team=<name>")]);
    const ofB = await send(await token(), { path: `${PATH}?team=team-b` });
    expect(toolsOf(ofB.text)).not.toContain("memory_save_atom");
    const ofA = await send(await token(), { path: `${PATH}?team=team-a` });
    expect(toolsOf(ofA.text)).toContain("memory_save_atom");
    expect((await send(await token(), { path: `${PATH}?team=team-c` })).status).toBe(403);
    expect((await send(await token(), { path: `${PATH}?team=team-a&team=team-a` })).status).toBe(400);
  });

  test.each([
    "?team=team-a?x",
    "?team=",
    "?team",
    "?team=a%20b",
    "?team=%zz",
    "?team=a%00",
    "?team=a&team=a",
    "?x=?&team=A",
  ])("with an address whose team cannot be read is 400, and says so: %s", async (query) => {
    const answer = await send(await token(), { path: PATH + query });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("names no team that there can be")]);
    expect((await send(await token({ aud: "other" }), { path: PATH + query })).status).toBe(401);
  });

  test("takes what else the address has for what it is", async () => {
    for (const query of ["?", "?x=team=b", "?x=?team=b", "?team=team-a&x=?y", "?t%65am=team-a"]) {
      expect([query, (await send(await token(), { path: PATH + query })).status]).toEqual([query, 200]);
    }
  });

  test("b122: is used from where its team's keys may be, and from nowhere else", async () => {
    const declared = (allowedCIDRs: readonly string[] | null) =>
      server.index.applyTeam({ ...TEAM_OF_ANN, allowedCIDRs });
    declared(["203.0.113.0/24"]);
    const refused = await send(await token());
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("Calls from 127.0.0.1 are refused")]);
    expect(server.refused.at(-1)).toMatchObject({ cause: "address_not_allowed", keyId: null, teamId: "team-a" });
    declared(["127.0.0.0/8"]);
    expect((await send(await token())).status).toBe(200);
  });

  test("b124: is held to its team's limits, with all else that the team's people and keys ask for", async () => {
    const rate = { requestsPerMinute: 60, burst: 2, scope: "Replica" as const };
    const teamLimits = { rate, concurrent: null };
    server.index.applyTeam({ ...TEAM_OF_ANN, limits: teamLimits });
    const first = await send(await token());
    expect([first.status, first.headers.get("ratelimit")]).toEqual([200, '"team";r=1;t=1']);
    expect((await send(server.addKey({ teamLimits }))).status).toBe(200);
    const refused = await send(await token());
    expect([refused.status, refused.text]).toEqual([429, expect.stringContaining("The team's rate limit is used up")]);
    expect(server.refused.at(-1)).toMatchObject({ cause: "team_rate_limited", keyId: null, teamId: "team-a" });
    server.index.applyTeam(TEAM_OF_ANN);
    expect((await send(await token())).status).toBe(200);
  });

  test("of a member of two teams of one name, in two clusters, needs the address to have an id", async () => {
    const twin = {
      teamId: "team-b",
      name: "team-a",
      cluster: "d",
      defaultLibraryId: null,
      allowedCIDRs: null,
      limits: null,
      members: ANN,
      revoked: [],
    };
    server.index.applyTeam(twin);
    const byName = await send(await token(), { path: `${PATH}?team=team-a` });
    expect([byName.status, byName.text]).toEqual([400, expect.stringContaining("by its id")]);
    expect((await send(await token(), { path: `${PATH}?team=team-b` })).status).toBe(200);
  });

  test("that was asked for too little gets an answer that says what to ask for, at the door and for a tool", async () => {
    const stepUp = `Bearer error="insufficient_scope", scope="memory:read memory:write", resource_metadata="${METADATA}"`;
    const without = await send(await token({ scope: "openid" }));
    expect([without.status, without.challenge]).toEqual([403, stepUp]);
    const reader = await send(await token({ scope: "memory:read" }), { message: SAVE });
    expect([reader.status, reader.challenge]).toEqual([403, stepUp]);
  });

  test("is not offered to a caller whose key lacks a scope", async () => {
    const reader = server.addKey({ scopes: scopeSet(["memory:read"]) });
    const denied = await send(reader, { message: SAVE });
    expect([denied.status, denied.challenge]).toEqual([403, 'Bearer error="insufficient_scope", scope="memory:write"']);
  });

  test("whose role lacks the right is not sent to fetch another", async () => {
    await declare([as("viewer", "subject ann")]);
    const answer = await send(await token(), { message: SAVE });
    expect([answer.status, answer.challenge]).toEqual([403, null]);
    expect(answer.text).toContain("role");
  });

  test("is answered 405 for what the stateless endpoint has no use for, and not 401", async () => {
    for (const method of OTHER_METHODS) {
      const { status, headers } = await send(await token(), { method });
      expect([method, status, headers.get("allow")]).toEqual([method, 405, "POST"]);
    }
  });

  test("is 503 while the view of the members is not current, and while the issuer cannot be asked", async () => {
    server.setCurrent(false);
    expect((await send(await token())).status).toBe(503);
    server.setCurrent(true);
    const away = await startIssuer();
    away.fault = "away";
    const oidc = { ...configured().oidc, issuers: [away.url] };
    const other = await startHarness({ mounts: MCP, store, config: { publicUrl: PUBLIC_URL, oidc } });
    const refused = await send(await token({ iss: away.url }), { to: other });
    expect(refused.status).toBe(503);
    expect(refused.text).toContain("The issuer of this token does not answer: try again.");
    expect(other.lines.filter((line) => line.includes("cannot verify the tokens of an issuer"))).toHaveLength(1);
    await other.close();
    away.close();
  });

  test("is 503 and not 403 where the view of the members is not current once the issuer's keys are there", async () => {
    const { slow, arrived, release, other } = await startBesideSlowIssuer();
    const answered = send(await token({ iss: slow.url }), { to: other });
    await arrived;
    other.setCurrent(false);
    release();
    expect((await answered).status).toBe(503);
    await other.close();
    slow.close();
  });

  test("leaves nothing open where its caller has left before the issuer's keys are there", async () => {
    const { slow, arrived, release, other } = await startBesideSlowIssuer();
    other.index.applyTeam(TEAM_OF_ANN);
    const left = hold(other, await token({ iss: slow.url }));
    await arrived;
    left.leave();
    await untilConnectionIsGone(other);
    release();
    expect((await send(await token({ iss: slow.url }), { to: other })).status).toBe(200);
    await until("no call is open", () => other.streams.size === 0, { timeoutMs: 5_000 });
    await other.close();
    slow.close();
  });

  test("is recorded where it is refused after its caller has left", async () => {
    const { slow, arrived, release, other } = await startBesideSlowIssuer();
    const causes: string[] = [];
    Object.assign(other.deps.refusals, { record: ({ cause }: { readonly cause: string }) => void causes.push(cause) });
    const left = hold(other, await token({ iss: slow.url, sub: "stranger" }));
    await arrived;
    left.leave();
    await untilConnectionIsGone(other);
    release();
    await until("its refusal is recorded", () => causes.length > 0, { timeoutMs: 5_000 });
    expect(causes).toHaveLength(1);
    await other.close();
    slow.close();
  });

  test("is answered 500 where something fails once it is decided, as a key is, and the log says why", async (context) => {
    const { usage, refusals } = server.deps;
    const record = () => {
      throw new Error("planted");
    };
    for (const each of [usage, refusals]) {
      const whole = { ...each };
      context.onTestFinished(() => void Object.assign(each, whole));
      Object.assign(each, { record });
    }
    for (const presented of [await token(), await token({ sub: "stranger" }), server.addKey(), "no-key"]) {
      const logged = server.lines.length;
      expect((await send(presented)).status).toBe(500);
      expect(server.lines.slice(logged)).toContainEqual(expect.stringContaining("planted"));
    }
    await until("nothing is open", () => server.streams.size === 0);
  });

  test("has no more calls under way than one key may", async () => {
    const small = await startHarness({ mounts: MCP, store, config: configured(), calls: { callsPerKey: 1 } });
    small.index.applyTeam(TEAM_OF_ANN);
    const held = hold(small, await token());
    await until("the call is open", () => small.streams.size === 1);
    expect((await send(await token(), { to: small })).status).toBe(429);
    held.leave();
    await until("the call has ended", () => small.streams.size === 0);
    await small.close();
  });
});

const untilConnectionIsGone = ({ app }: Harness) =>
  until("its connection is gone", () => new Promise((done) => app.server.getConnections((_, n) => done(n === 0))));

/** A server beside an issuer that gives its keys once they are released; `arrived` when they are asked for. */
async function startBesideSlowIssuer() {
  const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = await startIssuer();
  slow.keys = [signer.jwk];
  slow.held = () => {
    arrived.resolve();
    return released.promise;
  };
  const oidc = { ...configured().oidc, issuers: [slow.url] };
  const other = await startHarness({ mounts: MCP, store, config: { publicUrl: PUBLIC_URL, oidc } });
  return { slow, other, arrived: arrived.promise, release: released.resolve };
}

function hold(to: Harness, as: string, message: unknown = LIST): HeldRequest {
  return holdBack({ port: to.port }, `POST ${PATH}`, JSON.stringify(message), [`Authorization: Bearer ${as}`]);
}

describe("b104: a token for the memory opens nothing when it is", () => {
  const now = () => Math.floor(server.clock.now() / 1_000);
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const stranger = makeSigner("first");
  const attempts: Record<string, () => Promise<string>> = {
    "for the management API": () => token({ aud: "keyplane" }),
    "for another resource of this host": () => token({ aud: "https://keys.example.com/" }),
    "for a resource that begins as this one": () => token({ aud: `${RESOURCE}/more` }),
    "for no audience": () => token({ aud: undefined }),
    "a client's ID token": () => token({ aud: "a-client", azp: "a-client", nonce: "n" }),
    "of another issuer": () => token({ iss: "https://evil.example" }),
    "without an algorithm": async () =>
      `${encode({ alg: "none" })}.${encode({ iss: issuer.url, aud: RESOURCE, sub: "ann", exp: now() + 300 })}.e30`,
    "signed with the public key as a secret": async () =>
      (await token()).replace(/^[^.]+/, encode({ alg: "HS256", kid: "first" })),
    "of another's key under a known kid": async () => token({}, {}, await stranger),
    "that brings its own key": async () => {
      const { privateKey, jwk, alg } = await stranger;
      const header = { jwk, jku: "http://evil.example/jwks", x5u: "http://evil.example/chain" };
      return token({}, header, { privateKey, alg, kid: "mine", jwk });
    },
    "that has ended": () => token({ exp: now() - 65 }),
    "that has not begun": () => token({ nbf: now() + 65 }),
    "without an end": () => token({ exp: undefined }),
    "of another use": () => token({}, { typ: "logout+jwt" }),
    enormous: async () => `${await token()}${"A".repeat(12_000)}`,
  };
  test.each(Object.keys(attempts))("%s", async (name) => {
    const { text } = await send(undefined);
    const answer = await send(await attempts[name]?.());
    expect([answer.status, answer.text]).toEqual([401, text]);
    expect(issuer.asked).toBeLessThanOrEqual(2);
  });

  test("sent to the management API", async () => {
    const answer = await fetch(`${server.url}/api/v1/keys`, { headers: { authorization: `Bearer ${await token()}` } });
    expect(answer.status).toBe(401);
  });
});

describe("b105: a token is taken as Authorization at the MCP endpoint alone", () => {
  test.each<[string, (as: string) => Promise<Awaited<ReturnType<typeof send>>>]>([
    ["as ?key=", (as) => send(undefined, { path: `${PATH}?key=${as}` })],
    ["as ?access_token=", (as) => send(undefined, { path: `${PATH}?access_token=${as}` })],
    ["as the vendor's header", (as) => send(undefined, { headers: { "x-goog-api-key": as } })],
    ["as X-API-Key", (as) => send(undefined, { headers: { "x-api-key": as } })],
    ["behind another carrier", (as) => send(as, { headers: { "x-goog-api-key": "nothing" } })],
    ["beside another token", (as) => send(`${as}, Bearer ${as}`)],
    ["over REST", (as) => send(as, { path: "/api/v1/memory/atoms", method: "GET" })],
    ["at whoami", (as) => send(as, { path: "/api/v1/whoami", method: "GET" })],
    ["at a gateway", (as) => send(as, { path: `/g/${server.addGateway().publicId}/v1/models`, method: "GET" })],
  ])("%s it is 401", async (_how, attempt) => {
    expect((await attempt(await token())).status).toBe(401);
  });

  test("and takes no key's place: one that was imported in the shape of a token is a key", async () => {
    const key = server.addKey({}, `inf_${"a".repeat(20)}.${"b".repeat(20)}.${"c".repeat(20)}`);
    expect((await send(key)).status).toBe(200);
  });

  test("and is in no line of the log, and in no refusal that is kept", async () => {
    const [, claims = ""] = (await token()).split(".");
    await send(await token());
    await send(await token({ aud: "other" }));
    const kept = server.lines.join("") + JSON.stringify(server.refused);
    expect(kept).not.toContain("eyJ");
    expect(kept).not.toContain(claims);
  });
});

describe("b106: a member who was removed", () => {
  test("is refused from then on, and by the audit log known", async () => {
    const as = await token();
    expect((await send(as)).status).toBe(200);
    await declare([]);
    expect((await send(as)).status).toBe(403);
    expect(server.refused.at(-1)).toMatchObject({ cause: "no_member", principal: `${issuer.url}#ann` });
  });

  test("loses the calls that are open, and so does a token that ends", async () => {
    const exp = Math.floor(server.clock.now() / 1_000) + 300;
    await declare([...ANN, as("member", "group ops")]);
    const removed = hold(server, await token());
    const ended = hold(server, await token({ sub: "ben", groups: ["ops"], exp }));
    await until("both calls are open", () => server.streams.size === 2);
    setMembers([as("member", "group ops")]);
    expect((await removed.answer).status).toBe(401);
    expect(server.streams.size).toBe(1);
    server.clock.advance(361_000);
    setMembers([as("member", "group ops")]);
    expect((await ended.answer).status).toBe(401);
    server.clock.advance(-361_000);
  });

  test("is refused likewise whose tokens were revoked, until they sign in once more", async () => {
    const old = await token({ groups: ["leads"] });
    const open = hold(server, old);
    await until("the call is open", () => server.streams.size === 1);
    setMembers([...ANN, as("admin", "group leads")], "team-a", [{ name: "subject ann", atMs: server.clock.now() }]);
    expect((await open.answer).status).toBe(401);
    const refused = await send(old);
    expect([refused.status, refused.challenge]).toEqual([401, expect.stringContaining('error="invalid_token"')]);
    expect(server.refused.at(-1)).toMatchObject({ cause: "revoked", principal: `${issuer.url}#ann`, keyId: null });
    expect((await send(await token({ sub: "ben", groups: ["leads"] }))).status).toBe(200);
    expect((await send(await token({ iat: undefined }))).status).toBe(401);
    const after = Math.floor(server.clock.now() / 1_000);
    expect((await send(await token({ iat: after + 59 }))).status).toBe(401);
    server.clock.advance(60_000);
    expect((await send(await token({ iat: after + 61 }))).status).toBe(200);
    server.clock.advance(-60_000);
  });

  test("is not let in by a token that is older than a revocation is kept, nor by one that does not say how old", async () => {
    const now = Math.floor(server.clock.now() / 1_000);
    const opens = async (iat: number | undefined) => (await send(await token({ iat }))).status;
    expect(await opens(now - 89 * 86_400)).toBe(200);
    expect(await opens(now - 90 * 86_400)).toBe(401);
    expect(await opens(undefined)).toBe(401);
  });

  test("is not let in by a token of the future, which no revocation would reach", async () => {
    const now = Math.floor(server.clock.now() / 1_000);
    const opens = async (iat: number) => (await send(await token({ iat }))).status;
    expect([await opens(now + 60), await opens(now + 62)]).toEqual([200, 401]);
    expect(server.refused.at(-1)?.cause).toBe("jwt_claims");
  });

  test("leaves no row of a write that was under way, also where only the database knows", async () => {
    await sql`delete from team_members`.execute(store.db);
    const answer = await send(await token(), { message: SAVE });
    expect([answer.status, (await sql`select from atoms`.execute(store.db)).rows.length]).toEqual([403, 0]);
    await declare(ANN);
    await sql`update team_members set library_refs = '[{"namespace": "a-dev", "name": "diary"}]'`.execute(store.db);
    expect((await send(await token(), { message: SAVE })).text).toContain("There is no library");
    expect((await sql`select from atoms`.execute(store.db)).rows).toEqual([]);
    await declare(ANN);
    await sql`insert into revoked_subjects (team_id, subject) values ('team-a', 'ann')`.execute(store.db);
    expect((await send(await token(), { message: SAVE })).status).toBe(401);
    expect((await sql`select from atoms`.execute(store.db)).rows).toEqual([]);
    await sql`delete from revoked_subjects`.execute(store.db);
    expect((await send(await token(), { message: SAVE })).status).toBe(200);
  });
});
