import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DAY_MS } from "../../../../domain/duration.ts";
import { endOfLifetime } from "../../../../server/console/keys/form/lifetimes.ts";
import { type Pages, startPages } from "../pages.ts";

let pages: Pages;
/** The form of a new key, as its page has it. */
let opened: Record<string, string>;

beforeAll(async () => {
  pages = await startPages();
  for (const name of ["payments", "research"]) {
    await pages.send("POST", "/teams", { name, spec: { members: [{ role: "admin", group: "g" }] } });
  }
  await pages.send("POST", "/libraries", { name: "handbook", team: "payments", spec: {} });
  opened = await formOf("/keys/new");
});
afterAll(() => pages.close());

/** The fields of the form that a page has, as a browser sends them where nothing is typed. */
async function formOf(path: string): Promise<Record<string, string>> {
  const { status, text } = await pages.get(path);
  expect(status).toBe(200);
  const hidden = [...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(hidden.map(([, name, value]) => [name, value?.replaceAll("&quot;", '"') ?? ""]));
}

/** As a page that was opened anew has it: what differs is by which it is known when it is sent twice. */
const newForm = () => ({
  ...{ ...opened, once: randomBytes(18).toString("base64url") },
  ...{ team: "payments", preset: "MCPReadOnly" },
});

const secretIn = (text: string) => /id="secret"[^>]*>([^<]+)</.exec(text)?.[1];

test("The page of a new key has its first calls to a gateway, without the key", async () => {
  const team = "callers";
  await pages.send("POST", "/teams", { name: team, spec: { members: [] } });
  const upstream = { name: "one", dialect: "gemini", baseURL: "https://models.example", credential: "sk-credential" };
  const routes = [{ model: "large", routeID: "large", upstream: "one", upstreamModel: "larger" }];
  await pages.send("POST", "/gateways", {
    ...{ name: "models", team },
    spec: { upstreams: [upstream], routes, publicID: team },
  });
  const { text } = await pages.post("/keys/new", { ...newForm(), name: "caller", team, preset: "GatewayDefault" });
  const [, calls = ""] = text.split('id="next"');
  expect(calls).toContain(`  &#39;${pages.url}/g/${team}/v1beta/models/large:generateContent&#39;</pre>`);
  expect(calls).toContain("KEYPLANE_API_KEY");
  expect(calls).not.toContain(secretIn(text));
  expect(calls.match(/<details name="way" open>/g)).toHaveLength(1);
});

test("The page of a new version calls the gateway that its key is bound to, and none of that name elsewhere", async () => {
  const namespaces = ["spring", "autumn"];
  await pages.send("POST", "/teams", { name: "seasons", spec: { namespaces } });
  const upstream = { name: "one", dialect: "openai", baseURL: "https://models.example", credential: "sk-credential" };
  for (const namespace of namespaces) {
    const spec = { upstreams: [upstream], routes: [], publicID: namespace };
    await pages.send("POST", "/gateways", { name: "models", namespace, team: "seasons", spec });
  }
  for (const namespace of namespaces) {
    const spec = { preset: "GatewayDefault", gatewayRef: { name: "models" } };
    const { body } = await pages.send("POST", "/keys", { name: "seasonal", namespace, team: "seasons", spec });
    const path = `/keys/${body.id}/rotate`;
    const { text } = await pages.post(path, await formOf(path));
    expect(new Set(text.match(/\/g\/\w+/g))).toEqual(new Set([`/g/${namespace}`]));
  }
});

test("The page of a new key has its first calls to the memory, and none that the key may not make", async () => {
  const { text } = await pages.post("/keys/new", { ...newForm(), name: "first-call" });
  const [, calls = ""] = text.split('id="next"');
  expect(calls).toContain(`${pages.url}/api/v1/memory/atoms?limit=5`);
  expect(calls).toContain(`&quot;url&quot;: &quot;${pages.url}/api/v1/memory/mcp&quot;`);
  expect(calls).not.toContain("/g/");
  const none = await pages.post("/keys/new", { ...newForm(), name: "no-gateway", preset: "GatewayDefault" });
  expect([none.status, none.text.includes("/g/")]).toEqual([201, false]);
});

describe("making a key", () => {
  test("is offered in the one team where a person may, who looks at very many others", async () => {
    await pages.send("POST", "/teams", { name: "zebra", spec: { members: [{ role: "member", subject: "wide" }] } });
    await sql`insert into teams (id, cluster, name, display_name, state, generation)
      select 'team_' || i, '', 'seen-' || i, '', 'active', 1 from generate_series(1000, 1200) i`.execute(
      pages.store.db,
    );
    await sql`insert into team_members (team_id, role, kind, value)
      select id, 'viewer', 'subject', 'wide' from teams where name like 'seen-%'`.execute(pages.store.db);
    const visitor = await pages.as("wide");
    expect((await visitor.get("/keys/new")).text).toContain('<option value="zebra"');
    await sql`delete from team_members where role = 'viewer' and value = 'wide'`.execute(pages.store.db);
    await sql`delete from teams where name like 'seen-%'`.execute(pages.store.db);
  });

  test("begins with no team of several chosen, and with the only one where there are no others", async () => {
    await pages.send("POST", "/teams", { name: "alone", spec: { members: [{ role: "member", subject: "solo" }] } });
    const [ofAll, ofOne] = [await pages.get("/keys/new"), await (await pages.as("solo")).get("/keys/new")];
    expect(ofAll.text).toContain('<option value="">Choose a team</option>');
    expect(ofAll.text).toContain("It still lacks a name and a team.");
    expect(ofOne.text).toContain('<option value="alone" selected>alone</option>');
    expect(ofOne.text).toContain("It still lacks a name.");
  });

  test("limits it to models, and an edit that leaves them keeps them as they are", async () => {
    const form = {
      ...newForm(),
      preset: "GatewayDefault",
      name: "for-models",
      models: "small, vendor/large:1",
    };
    expect((await pages.post("/keys/new", form)).status).toBe(201);
    const [{ id }] = (await pages.send("GET", "/keys?name=for-models")).body.items;
    const models = async () => (await pages.send("GET", `/keys/${id}`)).body.spec.allowedModels;
    expect(await models()).toEqual(["small", "vendor/large:1"]);
    const comma = { preset: "GatewayDefault", allowedModels: ["a,b", "c"] };
    expect((await pages.send("PUT", `/keys/${id}`, { spec: comma }, { "if-match": "*" })).status).toBe(200);
    for (const [typed, kept] of [
      ["a,b, c", ["a,b", "c"]],
      ["c", ["c"]],
      ["", undefined],
    ] as const) {
      const edit = await formOf(`/keys/${id}/edit`);
      const saved = await pages.post(`/keys/${id}/edit`, { ...edit, preset: "GatewayDefault", models: typed });
      expect(saved.status).toBe(303);
      expect(await models()).toEqual(kept);
    }
  });

  test("b298: an edit by a page of before an upgrade, which has no field for them, takes no limit away and no owner", async () => {
    const limits = { allowedModels: ["a,b", "c"], allowedCIDRs: ["10.0.0.0/8"], rateLimit: { requestsPerMinute: 60 } };
    const kept = { ...limits, owner: "ann@example.com" };
    const { id } = (
      await pages.send("POST", "/keys", {
        ...{ name: "of-before", team: "payments" },
        spec: { preset: "GatewayDefault", ...kept },
      })
    ).body;
    const form = { ...(await formOf(`/keys/${id}/edit`)), preset: "GatewayDefault", displayName: "Renamed" };
    expect((await pages.post(`/keys/${id}/edit`, form)).status).toBe(303);
    const { spec } = (await pages.send("GET", `/keys/${id}`)).body;
    expect(spec).toMatchObject({ displayName: "Renamed", ...kept });
  });

  test("b369: an edit takes away no models that its page hides, none whose name holds a comma, and no list for a comma alone", async () => {
    const hidden = { preset: "MCPReadOnly", allowedModels: ["small"] };
    const shown = { preset: "GatewayDefault", allowedModels: ["a,b"], allowedCIDRs: ["10.0.0.0/8"] };
    const edited = async (name: string, spec: typeof shown | typeof hidden, typed: Record<string, string>) => {
      const { id } = (await pages.send("POST", "/keys", { name, team: "payments", spec })).body;
      const form = { ...(await formOf(`/keys/${id}/edit`)), preset: spec.preset, networks: "10.0.0.0/8" };
      const { status } = await pages.post(`/keys/${id}/edit`, { ...form, ...typed });
      return { status, spec: (await pages.send("GET", `/keys/${id}`)).body.spec };
    };
    const renamed = { displayName: "Renamed", models: "small" };
    expect(await edited("of-memory", hidden, renamed)).toMatchObject({ status: 303, spec: hidden });
    const { status, spec } = await edited("with-comma", shown, { models: "c,a,b" });
    expect([status, spec.allowedModels.toSorted()]).toEqual([303, ["a,b", "c"]]);
    const emptied = await edited("to-memory", shown, { preset: "MCPReadOnly", models: "a,b" });
    expect(emptied.spec).not.toHaveProperty("allowedModels");
    for (const typed of [{ models: "," }, { networks: ", ," }]) {
      const { status, spec } = await edited(`only-${Object.keys(typed)}`, shown, { models: "a,b", ...typed });
      expect([status, spec]).toEqual([422, expect.objectContaining(shown)]);
    }
  });

  test("shows it on one page alone, which nothing keeps, and it works", async () => {
    const made = await pages.post("/keys/new", { ...newForm(), name: "first" });
    expect([made.status, made.headers.get("cache-control")]).toEqual([201, "no-store"]);
    const secret = secretIn(made.text) ?? "";
    expect(await pages.tryKey(secret)).toBe(200);
    const id = /data-shown-once="\/dashboard\/keys\/([^"]+)"/.exec(made.text)?.[1];
    for (const path of ["/keys", `/keys?q=${secret.slice(0, 12)}`, `/keys?q=first`]) {
      expect((await pages.get(path)).text).not.toContain(secret);
    }
    expect((await pages.send("GET", `/keys/${id}`)).text).not.toContain(secret);
    expect(pages.lines.join("\n")).not.toContain(secret);
    // Files are made of what the page holds, with a word where the key belongs.
    expect(made.text.split(secret)).toHaveLength(2);
    expect(made.text).toContain("stringData:");
    expect(made.text).toContain("KEYPLANE_API_KEY=KEY-IS-PUT-HERE");
    expect(made.text).toContain("mcpServers");
  });

  test("offers no mcp.json for a key whose calls name a subject each, since that file cannot", async () => {
    const spec = { preset: "MCPReadOnly", subjectAccess: { mode: "Required" } };
    const made = await pages.send("POST", "/keys", { name: "for-subjects", team: "payments", spec });
    expect(made.status).toBe(201);
    const path = `/keys/${made.body.id}/rotate`;
    const rotated = await pages.post(path, await formOf(path));
    expect(rotated.text).toContain("KEYPLANE_API_KEY=KEY-IS-PUT-HERE");
    expect(rotated.text).not.toContain("mcpServers");
  });

  test("b114: is 415 for a form in a coding, which makes none", async () => {
    const made = await pages.post("/keys/new", { ...newForm(), name: "coded" }, { "content-encoding": "gzip" });
    expect([made.status, made.headers.get("accept-encoding")]).toEqual([415, "identity"]);
    expect(made.text).toContain("Send the body as it is");
    expect((await pages.send("GET", "/keys?name=coded")).body.items).toEqual([]);
  });

  test("makes one key of a form that is sent twice", async () => {
    const form = { ...newForm(), name: "double" };
    const answers = await Promise.all([pages.post("/keys/new", form), pages.post("/keys/new", form)]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect((await pages.send("GET", "/keys?name=double")).body.items).toHaveLength(1);
  });

  test("binds the key to what its scopes are for, and to nothing that the page would hide", async () => {
    const chosen = { libraryAccess: "Restricted", libraries: "handbook", defaultLibrary: "handbook", gateway: "none" };
    const form = { ...newForm(), name: "bound", ...chosen };
    expect((await pages.post("/keys/new", form)).status).toBe(201);
    const [{ spec }] = (await pages.send("GET", "/keys?name=bound")).body.items;
    expect(spec).toMatchObject({
      preset: "MCPReadOnly",
      libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "handbook" }] },
      mcpDefaultLibraryRef: { name: "handbook" },
    });
    expect(spec.gatewayRef).toBeUndefined();
  });

  test("takes limits, and what people call it", async () => {
    const named = { displayName: "The checkout", owner: "ann@example.com" };
    const limits = {
      ...named,
      requestsPerMinute: "60",
      burst: "10",
      concurrent: "3",
      networks: "10.0.0.0/8, ::1/128",
    };
    expect((await pages.post("/keys/new", { ...newForm(), name: "limited", ...limits })).status).toBe(201);
    const [{ spec }] = (await pages.send("GET", "/keys?name=limited")).body.items;
    const rateLimit = { requestsPerMinute: 60, burst: 10, concurrent: 3 };
    expect(spec).toMatchObject({ ...named, rateLimit, allowedCIDRs: ["10.0.0.0/8", "::1/128"] });
  });

  test("offers presets, the first what an application needs, and says of each what it is for", async () => {
    const { text } = await pages.get("/keys/new");
    const [, options = ""] = /<select id="preset"[^>]*>(.*?)<\/select>/s.exec(text) ?? [];
    const offered = [...options.matchAll(/>([^<]+)</g)].map(([, words]) => words);
    expect([offered, /value="([^"]*)"[^>]*selected/.exec(options)?.[1]]).toEqual([
      [
        "GatewayDefault (for an application: models; reads the memory)",
        "MCPReadOnly (for an assistant over MCP: reads the memory)",
        "MCPReadWrite (for an agent over MCP: writes the memory too)",
        "Scopes of its own",
      ],
      "GatewayDefault",
    ]);
  });

  test("offers lifetimes, the first of them without an end", async () => {
    const { text } = await pages.get("/keys/new");
    const [, options = ""] = /<select id="lifetime"[^>]*>(.*?)<\/select>/s.exec(text) ?? [];
    const offered = [...options.matchAll(/value="([^"]*)"/g)].map(([, value]) => value);
    expect([offered, /value="([^"]*)"[^>]*selected/.exec(options)?.[1]]).toEqual([
      ["none", "7d", "30d", "90d", "date"],
      "none",
    ]);
  });

  test("ends a key that is to work for a time after that, however often the form is sent", async () => {
    const form = { ...newForm(), name: "works-30d", lifetime: "30d", expires: "2001-01-01T00:00" };
    const madeAt = Date.now();
    expect((await pages.post("/keys/new", form)).status).toBe(201);
    const again = await pages.post("/keys/new", form);
    expect([again.status, again.text.includes("This form was sent twice")]).toEqual([201, true]);
    const [{ spec, expiresAt }] = (await pages.send("GET", "/keys?name=works-30d")).body.items;
    expect(spec.expiresAt).toMatch(/T\d\d:\d\d:00Z$/);
    expect(Date.parse(expiresAt)).toBe(Date.parse(spec.expiresAt));
    const lives = Date.parse(expiresAt) - madeAt;
    expect(lives).toBeGreaterThan(30 * DAY_MS - 60_001);
    expect(lives).toBeLessThan(30 * DAY_MS + 60_000);
  });

  test.for([
    ["7d", 7],
    ["90d", 90],
  ] as const)("counts %s as that many days", async ([lifetime, days]) => {
    const end = await endOfLifetime(pages.store.db, lifetime);
    const lives = Date.parse(end.expiresAt ?? "") - Date.now();
    expect(Math.abs(lives - days * DAY_MS)).toBeLessThan(60_001);
  });

  test("ends no key whose form asks for no end, whatever date the page hides, and one at a date of one's own", async () => {
    const expires = "2099-01-01T00:00";
    for (const [name, lifetime] of [
      ["without-end", "none"],
      ["until-a-date", "date"],
    ] as const) {
      expect((await pages.post("/keys/new", { ...newForm(), name, lifetime, expires })).status).toBe(201);
    }
    const endOf = async (name: string) => (await pages.send("GET", `/keys?name=${name}`)).body.items[0].spec.expiresAt;
    expect([await endOf("without-end"), await endOf("until-a-date")]).toEqual([undefined, "2099-01-01T00:00:00Z"]);
  });

  test.for([
    [
      "tokens",
      { budgetOf: "tokens", budgetAmount: "1,000,000", budgetPeriod: "Day" },
      { tokens: 1_000_000, period: "Day" },
    ],
    [
      "cost",
      { budgetOf: "cost", budgetAmount: "250.00", budgetCurrency: "USD", budgetPeriod: "Total" },
      { cost: "250.00", currency: "USD", period: "Total" },
    ],
  ] as const)("holds a key to a budget of %s", async ([kind, typed, budget]) => {
    const name = `budget-of-${kind}`;
    const form = { ...newForm(), preset: "GatewayDefault", name, ...typed };
    expect((await pages.post("/keys/new", form)).status).toBe(201);
    const [{ spec }] = (await pages.send("GET", `/keys?name=${name}`)).body.items;
    expect(spec.budgets).toMatchObject([budget]);
  });

  test("says all that is wrong at once, each beside its field and in words, and keeps what was typed", async () => {
    const typed = {
      ...{ name: "Not A Name", team: "", preset: "", networks: "10.0.0.0/99", tokensPerMinute: "many", burst: "5" },
      ...{ lifetime: "date", budgetOf: "tokens", budgetAmount: "x", budgetPeriod: "Month" },
    };
    const { status, text } = await pages.post("/keys/new", { ...newForm(), ...typed });
    expect(status).toBe(422);
    const faults = [...text.matchAll(/<p class="error"(?: id="([^"]+)-error")?>([^<]*)</g)].map(([, id, said]) => [
      id,
      said,
    ]);
    expect(Object.fromEntries(faults)).toMatchObject({
      name: expect.stringContaining("Name: "),
      team: "Choose a team.",
      undefined: "Choose at least one scope.",
      networks: expect.stringContaining("has a length beyond its 32 bits"),
      tokensPerMinute: "Tokens a minute: must be a whole number.",
      budgetAmount: expect.stringContaining("write a whole number of tokens"),
    });
    expect(text.match(/<li><a href="#/g)?.length).toBe(new Set(faults.map(([id]) => id)).size);
    for (const kept of ["Not A Name", "10.0.0.0/99", "many"]) expect(text).toContain(`value="${kept}"`);
  });

  test("says beside other faults which gateway and library there are none of, and that a name is taken", async () => {
    await pages.send("POST", "/keys", { name: "had", team: "payments", spec: { preset: "MCPReadOnly" } });
    const typed = { name: "had", preset: "GatewayDefault", gateway: "none", defaultLibrary: "none", networks: "x" };
    const { text } = await pages.post("/keys/new", { ...newForm(), ...typed });
    const at = [...text.matchAll(/<li><a href="#(\w+)">/g)].map(([, id]) => id).toSorted();
    expect(at).toEqual(["defaultLibrary", "gateway", "name", "networks"]);
  });

  test.for([
    [{ libraryAccess: "Restricted", otherLibraries: "Bad_Name" }, ["gateway", "libraries"]],
    [{ libraryAccess: "Restricted", otherLibraries: "" }, ["gateway", "libraries"]],
    [
      { libraryAccess: "Restricted", otherLibraries: "handbook", defaultLibrary: "none" },
      ["defaultLibrary", "gateway"],
    ],
    [{ defaultLibrary: "Bad_Name", gateway: "Bad_Name" }, ["defaultLibrary", "gateway"]],
  ] as const)("says beside what %j has wrong which gateway there is none of", async ([typed, faulty]) => {
    const form = { ...newForm(), name: "kept", preset: "GatewayDefault", gateway: "none", ...typed };
    const { text } = await pages.post("/keys/new", form);
    const at = [...text.matchAll(/<li><a href="#(\w+)">/g)].map(([, id]) => id).toSorted();
    expect(at).toEqual(faulty);
  });

  test.for([
    ["a display name that turns the direction of text", { displayName: "a\u202eb" }, "displayName"],
    ["a name of 10,000 emoji", { name: "🔑".repeat(10_000) }, "name"],
    ["a name that is taken", { name: "taken" }, "name"],
    ["a team that is none", { team: "none" }, "team"],
    ["a library of another team", { team: "research", defaultLibrary: "handbook" }, "defaultLibrary"],
    ["an end in the past", { lifetime: "date", expires: "2001-01-01T00:00" }, "expires"],
  ] as const)("says of %s what to change beside the field, and keeps what was typed", async ([, typed, field]) => {
    if (typed && "name" in typed && typed.name === "taken") {
      await pages.send("POST", "/keys", { name: "taken", team: "payments", spec: { preset: "MCPReadOnly" } });
    }
    const form: Record<string, string> = { ...newForm(), name: "kept-as-typed", ...typed };
    const { status, text } = await pages.post("/keys/new", form);
    expect([409, 422]).toContain(status);
    expect(text).toMatch(new RegExp(`id="${field}(-error)?"`));
    expect(text).toContain('class="error"');
    expect(text).toContain(`value="${form.name}"`);
    expect(text).toContain(`name="once" value="${form.once}"`);
    expect(text.match(/<h1/g)).toHaveLength(1);
  });

  test("offers some of more teams, libraries and gateways than a page can hold, and takes any by its name", async () => {
    const { db } = pages.store;
    await sql`insert into teams (id, cluster, name, display_name, state, generation)
      select 'team_' || n, 'c1', 'aaa-' || n, '', 'active', 1 from generate_series(1, 250) n`.execute(db);
    await sql`insert into libraries (id, cluster, namespace, name, team_id, display_name, description, deletion_policy, state)
      select 'lib_0' || n, cluster, '', 'many-' || n, teams.id, '', '', 'Retain', 'active'
      from teams, generate_series(1, 250) n where teams.name = 'payments'`.execute(db);
    const { text } = await pages.get("/keys/new");
    for (const field of ["team", "defaultLibrary"]) expect(text).toContain(`list="${field}-list"`);
    expect(text.match(/<option value="aaa-/g)?.length).toBeLessThanOrEqual(200);
    const chosen = { libraryAccess: "Restricted", otherLibraries: "handbook, many-250", defaultLibrary: "many-250" };
    const form = { ...newForm(), name: "of-many", ...chosen };
    expect((await pages.post("/keys/new", form)).status).toBe(201);
    const [{ id, spec }] = (await pages.send("GET", "/keys?name=of-many")).body.items;
    const libraryRefs = [{ name: "handbook" }, { name: "many-250" }];
    expect(spec).toMatchObject({ libraryAccess: { libraryRefs }, mcpDefaultLibraryRef: { name: "many-250" } });
    // What the form to edit it does not offer is not lost by saving.
    expect((await pages.get(`/keys/${id}/edit`)).text).toMatch(/value="many-250" checked/);
    const wrong = await pages.post("/keys/new", {
      ...form,
      ...newForm(),
      name: "of-none",
      otherLibraries: "many-251",
    });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toMatch(/value="many-251" checked/);
    expect(wrong.text).toContain('class="error"');
  });

  test("b65: without the session's token, or from another page, changes nothing", async () => {
    const form: Record<string, string> = { ...newForm(), name: "forged" };
    const { cookie } = pages.browser;
    const send = (headers: Record<string, string>, fields: Record<string, string>) =>
      fetch(`${pages.url}/dashboard/keys/new`, { method: "POST", headers, body: new URLSearchParams(fields) });
    const { _csrf, ...without } = form;
    expect((await send({ cookie, origin: pages.url }, without)).status).toBe(403);
    expect((await send({ cookie, origin: "http://evil.example" }, form)).status).toBe(403);
    expect((await pages.send("GET", "/keys?name=forged")).body.items).toEqual([]);
    expect((await send({ cookie, origin: pages.url }, form)).status).toBe(201);
  });
});
