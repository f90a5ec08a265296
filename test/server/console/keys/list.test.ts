import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordUsage } from "../../../../store/keys/uses/usage.ts";
import { type Pages, startPages } from "../pages.ts";
import { copyKey, pageNames } from "./copied-keys.ts";

let pages: Pages;
const GATEWAY = {
  upstreams: [{ name: "primary", dialect: "openai", baseURL: "https://models.example", credential: "sk-any" }],
};
const prefixes = new Map<string, string>();

beforeAll(async () => {
  pages = await startPages();
  for (const name of ["payments", "research"]) {
    await pages.send("POST", "/teams", { name, spec: { members: [{ role: "admin", group: "g" }] } });
  }
  await makeKey("reader", "payments", { preset: "MCPReadOnly", displayName: "<b>Reader</b>" });
  await makeKey("writer", "payments", { preset: "MCPReadWrite", state: "Suspended", owner: "Ann <ann@example.com>" });
  await makeKey("gateway-user", "research", { preset: "GatewayDefault", expiresAfter: "1h" });
  const [first = "", ...others] = pageNames(60);
  await makeKey(first, "research", { preset: "MCPReadOnly" });
  await copyKey(pages.store, first, others);
  for (const name of others) prefixes.set(name, "");
});
afterAll(() => pages.close());

async function makeKey(name: string, team: string, spec: object): Promise<void> {
  const { body } = await pages.send("POST", "/keys", { name, team, spec });
  prefixes.set(name, body.prefix);
}

/** The names of the keys that a page lists, in its order. */
function listed(text: string): string[] {
  return [...text.matchAll(/<a href="\/dashboard\/keys\/key_[^"]+">([^<]+)<\/a>/g)].map(([, name = ""]) => name);
}

/** The request in whose course something is done; none is what a server does by itself. */
const request = new AsyncLocalStorage<{ questions: number }>();

/** How often a page asks for a connection of those that authenticated callers have. */
async function questionsOf(page: () => Promise<unknown>): Promise<number> {
  const executor = pages.store.db.getExecutor();
  const provideConnection = executor.provideConnection.bind(executor);
  const own = { questions: 0 };
  const begin = () => request.enterWith(own);
  subscribe("http.server.request.start", begin);
  executor.provideConnection = (consumer, options) => {
    const asking = request.getStore();
    if (asking !== undefined) asking.questions++;
    return provideConnection(consumer, options);
  };
  try {
    await page();
  } finally {
    executor.provideConnection = provideConnection;
    unsubscribe("http.server.request.start", begin);
  }
  return own.questions;
}

async function list(search: string): Promise<string[]> {
  const { status, text } = await pages.get(`/keys${search}`);
  expect(status).toBe(200);
  return listed(text);
}

describe("the list of keys", () => {
  test("says to who is in no team by which names a team could have them as a member", async () => {
    const { text } = await (await pages.as("newcomer <b>")).get("/keys");
    expect(text).toContain("<h2>You are in no team</h2>");
    expect(text).toContain("subject: newcomer &lt;b&gt;");
    expect(text).not.toContain("No API keys yet");
    expect((await pages.get("/keys?q=nothing-is-called-so")).text).not.toContain("You are in no team");
  });

  test("has a page of fifty and the rest behind a link, in the order of names", async () => {
    const first = await pages.get("/keys");
    const next = /href="\/dashboard(\/keys\?after=[^"]+)"[^>]*>Next page/.exec(first.text)?.[1];
    const names = [...listed(first.text), ...(await list((next ?? "").replace("/keys", "")))];
    expect(names).toEqual([...prefixes.keys()].sort());
  });

  test("asks the database little for a page: each question is a turn of a busy event loop", async () => {
    const of = (search: string) => questionsOf(() => pages.get(`/keys${search}`));
    // For the keys' places and their number, for their rows, and for all names beside them.
    expect(await of("")).toBe(3);
    expect(await of("?order=used-last")).toBe(3);
    expect(await of("?state=expired")).toBe(2);
    // Whose namespaces are lost.
    expect(await of("?state=suspended")).toBe(4);
    // What a text identifies comes first.
    expect(await of("?q=rite")).toBe(4);
    expect(await of("?q=nothing-is-called-so")).toBe(3);
  });

  test("finds a part of a name, a state, a team, and all of it together", async () => {
    expect(await list("?q=rite")).toEqual(["writer"]);
    expect(await list("?state=suspended")).toEqual(["writer"]);
    expect(await list("?team=payments")).toEqual(["reader", "writer"]);
    expect(await list("?team=payments&state=active&q=READ")).toEqual(["reader"]);
    expect(await list("?team=none-such")).toEqual([]);
    // As long as a prefix.
    expect(await list("?q=GATEWAY-USER")).toEqual(["gateway-user"]);
  });

  test("finds a part of a display name, in small letters or capital ones", async () => {
    const rename = (display_name: string) =>
      pages.store.db.updateTable("keys").set({ display_name }).where("name", "=", "writer").execute();
    await rename("Zahlungen für Österreich 💶💶💶");
    // Which letters beyond ASCII are the same, small or capital, the database's locale says.
    for (const q of ["zahlungen", "EN für", "Österreich 💶", "💶💶💶", "za", "ZA", "rite"]) {
      expect([q, await list(`?q=${encodeURIComponent(q)}`)]).toEqual([q, ["writer"]]);
    }
    expect(await list("?q=zahlungen&team=research")).toEqual([]);
    await rename("writer");
    expect(await list("?q=zahlungen")).toEqual([]);
    expect(await list("?q=rite")).toEqual(["writer"]);
  });

  test("finds a part of an owner, and shows it with the key wherever that is", async () => {
    for (const q of ["ANN@example", "an", "ann <"]) {
      expect([q, await list(`?q=${encodeURIComponent(q)}`)]).toEqual([q, ["writer"]]);
    }
    expect(await list("?q=ann@example&team=research")).toEqual([]);
    const { text } = await pages.get("/keys?q=rite");
    const shown = "Ann &lt;ann@example.com&gt;";
    expect(text).toContain(`payments · ${shown}</small>`);
    const [, id = ""] = /href="\/dashboard\/keys\/(key_[^"]+)"/.exec(text) ?? [];
    expect((await pages.get(`/keys/${id}`)).text).toContain(`<dt>Owner</dt><dd>${shown}</dd>`);
    expect((await pages.get(`/keys/${id}/edit`)).text).toMatch(new RegExp(`name="owner"[^>]* value="${shown}"`));
  });

  test("says how many match on all pages", async () => {
    const said = async (search: string) =>
      / role="status">([^<]*)</.exec((await pages.get(`/keys${search}`)).text)?.[1];
    const all = prefixes.size;
    expect(await said("")).toBe(`50 keys on this page, ${all} in all`);
    const next = /href="\/dashboard\/keys(\?after=[^"]+)"[^>]*>Next page/.exec((await pages.get("/keys")).text)?.[1];
    expect(await said(next ?? "")).toBe(`${all - 50} keys on this page, ${all} in all`);
    expect(await said("?q=page-")).toBe("50 keys on this page, 60 in all");
    expect(await said("?q=page-1")).toBe("10 keys on this page, 10 in all");
    expect(await said("?q=rite")).toBe("1 key on this page, 1 in all");
    expect(await said("?scope=memory:write")).toBe("1 key on this page, 1 in all");
  });

  test("finds keys by a scope, and those that are leaked, unused, or made by hand, in an address that keeps it", async () => {
    expect(await list("?scope=memory:write")).toEqual(["writer"]);
    expect(await list("?scope=memory:write&team=research")).toEqual([]);
    expect(await list("?trait=declared")).toEqual([]);
    expect((await list("?trait=by-hand&q=page-1")).length).toBe(10);
    expect(await list("?trait=leaked")).toEqual([]);
    const { db } = pages.store;
    const writer = db.selectFrom("keys").select(["id", "created_at"]).where("name", "=", "writer");
    const { id, created_at: madeAt } = await writer.executeTakeFirstOrThrow();
    const at = new Date();
    const report = { key_id: id, version: 1, reporter: "member", first_reported_at: at, last_reported_at: at };
    await db.insertInto("key_leaks").values(report).execute();
    expect(await list("?trait=leaked")).toEqual(["writer"]);
    expect(await list("?trait=leaked&team=research")).toEqual([]);
    await db.deleteFrom("key_leaks").where("key_id", "=", id).execute();
    expect(await list("?trait=unused")).toEqual([]);
    const made = (created_at: Date) => db.updateTable("keys").set({ created_at }).where("id", "=", id).execute();
    await made(new Date(at.getTime() - 31 * 24 * 3_600_000));
    expect(await list("?trait=unused")).toEqual(["writer"]);
    expect(await list("?trait=long-unused")).toEqual([]);
    await made(new Date(at.getTime() - 91 * 24 * 3_600_000));
    expect(await list("?trait=long-unused")).toEqual(["writer"]);
    await made(madeAt);
    const { text } = await pages.get("/keys?trait=by-hand&scope=memory:read");
    expect(text).toMatch(
      /href="\/dashboard\/keys\?scope=memory%3Aread&amp;trait=by-hand&amp;after=[^"]+"[^>]*>Next page/,
    );
    expect((await pages.get("/keys?trait=unused&scope=gateway:routes")).text).toContain("No key matches");
  });

  test("finds the keys that never expire, and how many they are", async () => {
    expect(await list("?trait=endless&team=payments")).toEqual(["reader", "writer"]);
    expect(await list("?trait=endless&q=gateway-user")).toEqual([]);
    expect((await pages.get("/keys?trait=endless")).text).toMatch(/50 keys on this page, \d+ in all/);
  });

  test("sorts by what comes last or ends first", async () => {
    expect((await list("?order=newest"))[0]).toBe("page-59");
    expect((await list("?order=oldest"))[0]).toBe("reader");
    expect((await list("?order=ends-soonest"))[0]).toBe("gateway-user");
  });

  test("sorts by the last use", async () => {
    const { body } = await pages.send("POST", "/keys", {
      name: "used",
      team: "payments",
      spec: { preset: "MCPReadOnly" },
    });
    await recordUsage(pages.store, [{ keyId: body.id, version: 1, at: Date.now() }]);
    expect((await list("?order=used-last"))[0]).toBe("used");
    expect((await list("?order=unused-longest"))[0]).not.toBe("used");
    prefixes.set("used", body.prefix);
  });

  test("finds the keys that may call a model: those that list it, and those that may call any", async () => {
    const spec = { preset: "GatewayDefault", allowedModels: ["gpt-5", "fast"] };
    await makeKey("lists-it", "payments", spec);
    await makeKey("lists-another", "payments", { ...spec, allowedModels: ["slow"] });
    expect(await list("?model=gpt-5")).toEqual(["gateway-user", "lists-it"]);
    expect(await list("?model=slow&team=payments")).toEqual(["lists-another"]);
    const { text } = await pages.get("/keys?model=gpt-5");
    expect(text).toContain("2 keys on this page, 2 in all");
    expect(text).toContain('<label for="model">May call model</label>');
  });

  test("leads back to the page before, to the first one, and keeps the filters", async () => {
    const link = (text: string, title: string) =>
      new RegExp(`href="/dashboard(/keys[^"]*)"[^>]*>${title}`).exec(text)?.[1]?.replaceAll("&amp;", "&");
    const follow = (text: string, title: string) => pages.get(link(text, title) ?? "/none");
    const first = await pages.get("/keys?state=active&order=newest");
    expect(link(first.text, "Previous page")).toBeUndefined();
    const second = await follow(first.text, "Next page");
    const back = await follow(second.text, "Previous page");
    expect(listed(back.text)).toEqual(listed(first.text));
    expect(link(back.text, "Previous page")).toBeUndefined();
    expect(listed((await follow(second.text, "First page")).text)).toEqual(listed(first.text));
    // One key before it, and fifty behind that: a page in the middle.
    const [, middle = ""] = listed(second.text);
    const inMiddle = await pages.get(link(second.text, "Previous page")?.replace("before=", "after=") ?? "/none");
    expect(listed(inMiddle.text)).toContain(middle);
    const before = await follow(inMiddle.text, "Previous page");
    expect(listed(before.text)).toEqual([...listed(first.text).slice(1), ...listed(second.text).slice(0, 1)]);
    expect((await pages.get("/keys?before=broken")).status).toBe(400);
  });

  test("finds what is bound to a gateway or a library, by its name and by its id", async () => {
    const gateway = (await pages.send("POST", "/gateways", { name: "chat", team: "payments", spec: GATEWAY })).body;
    const library = (await pages.send("POST", "/libraries", { name: "notes", team: "payments", spec: {} })).body;
    const make = async (name: string, spec: object) => {
      const { body } = await pages.send("POST", "/keys", { name, team: "payments", spec });
      prefixes.set(name, body.prefix);
    };
    await make("of-the-chat", { preset: "GatewayDefault", gatewayRef: { name: "chat" } });
    await make("of-the-notes", {
      preset: "MCPReadOnly",
      libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "notes" }] },
    });
    expect(await list("?bound=chat")).toEqual(["of-the-chat"]);
    expect(await list(`?bound=${gateway.id}&state=active`)).toEqual(["of-the-chat"]);
    expect(await list(`?bound=${gateway.id}&state=revoked`)).toEqual([]);
    expect(await list("?bound=notes")).toEqual(["of-the-notes"]);
    expect(await list(`?bound=${library.id}&team=research`)).toEqual([]);
    expect(await list("?bound=nothing-of-that-name")).toEqual([]);
    expect((await pages.get(`/gateways/${gateway.id}`)).text).toContain(`href="/dashboard/keys?bound=${gateway.id}"`);
  });

  test("is where the console begins", async () => {
    const { status, headers } = await pages.get("");
    expect([status, headers.get("location")]).toEqual([303, "/dashboard/keys"]);
  });

  test("leads from a prefix straight to its key, and while one types shows it as a row", async () => {
    const search = `/keys?q=${prefixes.get("reader")}`;
    const led = await pages.get(search);
    expect([led.status, led.headers.get("location")]).toEqual([303, expect.stringMatching(/^\/dashboard\/keys\/key_/)]);
    expect(listed((await pages.get(search, { "hx-request": "true" })).text)).toEqual(["reader"]);
  });

  test("finds the key of a whole secret that was sent by mistake, and repeats no more of it than its prefix", async () => {
    const { body } = await pages.send("POST", "/keys", {
      name: "pasted",
      team: "payments",
      spec: { preset: "MCPReadOnly" },
    });
    prefixes.set("pasted", body.prefix);
    const search = `/keys?q=${body.secret}`;
    expect((await pages.get(search)).headers.get("location")).toBe(`/dashboard/keys/${body.id}`);
    const { text } = await pages.get(search, { "hx-request": "true" });
    expect(listed(text)).toEqual(["pasted"]);
    expect(text).not.toContain(body.secret);
    for (const pasted of [`Bearer ${body.secret}`, `OPENAI_API_KEY="${body.secret}"`]) {
      const shown = await pages.get(`/keys?q=${encodeURIComponent(pasted)}`, { "hx-request": "true" });
      expect(listed(shown.text), "b187: as it is often pasted").toEqual(["pasted"]);
      expect(shown.text).not.toContain(body.secret.slice(12, 24));
    }
    const broken = `${body.secret.slice(0, 9)}  ${body.secret.slice(9)}`;
    const shown = await pages.get(`/keys?q=${encodeURIComponent(broken)}`, { "hx-request": "true" });
    expect(listed(shown.text), "b216: as a line that has ended within it leaves it").toEqual(["pasted"]);
    expect(shown.text).not.toContain(body.secret.slice(12, 24));
    const signedOut = await pages.get(search, { cookie: "" });
    expect([signedOut.status, signedOut.headers.get("location")]).toEqual([
      303,
      "/dashboard/sign-in?returnTo=%2Fdashboard%2F",
    ]);
  });

  test("shows what people wrote as text, and never as markup", async () => {
    const { text } = await pages.get("/keys?q=%3Cscript%3E%22");
    expect(text).toContain("&lt;script&gt;&quot;");
    expect((await pages.get("/keys?q=reader")).text).toContain("&lt;b&gt;Reader&lt;/b&gt;");
  });

  test.for([
    ["an order that is none", "?order=none", 200],
    ["a state that is none", "?state=none", 200],
    ["a word twice", "?q=a&q=b", 200],
    ["a NUL character", "?q=%00", 200],
    ["10,000 emoji", `?q=${encodeURIComponent("🔑".repeat(1_000))}`, 200],
    ["a broken cursor", "?after=eyJ9", 400],
    ["a cursor of another order", `?order=newest&after=${Buffer.from('["a","key_a"]').toString("base64url")}`, 400],
    [
      "a time before there was one",
      `?order=newest&after=${Buffer.from('["-253402300799","key_a"]').toString("base64url")}`,
      400,
    ],
    [
      "the last moment of all",
      `?order=newest&after=${Buffer.from('["253402300799.999","key_a"]').toString("base64url")}`,
      200,
    ],
    ["a time far away", `?order=newest&after=${Buffer.from('["999999999999","key_a"]').toString("base64url")}`, 400],
  ] as const)("takes %s without failing", async ([, search, status]) => {
    expect((await pages.get(`/keys${search}`)).status).toBe(status);
  });
});

describe("every page of the console", () => {
  test("b65: is protected against frames, scripts of others, guessed types, caches and referrers", async () => {
    for (const path of ["/keys", "/keys?after=x", "/nothing"]) {
      const { headers } = await pages.get(path);
      expect(headers.get("content-security-policy")).toContain(
        "default-src 'none'; script-src 'self'; style-src 'self'",
      );
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("same-origin");
      expect(headers.get("cache-control")).toBe("no-store");
    }
  });

  test("has no script and no style within it, one h1, and files that may be kept for ever", async () => {
    const { text } = await pages.get("/keys");
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|style=|\son[a-z]+=|javascript:/);
    expect(text.match(/<h1/g)).toHaveLength(1);
    const files = [...text.matchAll(/(?:src|href)="\/dashboard(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
    expect(files).toHaveLength(4);
    for (const path of files) {
      const { status, headers } = await pages.get(path, { cookie: "" });
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    }
    expect((await pages.get("/assets/console.css")).status).toBe(404);
  });

  test("says of a refusal what the API would, as a page", async () => {
    const { status, text, headers } = await pages.get("/keys?after=x");
    expect([status, headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
    expect(text).toContain("begin at the first page");
    expect(text.match(/<h1/g)).toHaveLength(1);
  });
});
