/** The manifest beside the form to make a key: what the same key would be as a declaration. */
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { rulesInForce } from "../../../../domain/key/policies/rules-in-force.ts";
import { savePolicy } from "../../../../store/policies/key-policies.ts";
import { makeTeam, reserveKey, run } from "../../../store/fixtures.ts";
import { type PageResponse, type Pages, startPages } from "../pages.ts";

const PATH = "/keys/new/manifest";
const BY_SCRIPT = { "hx-request": "true" };

let pages: Pages;
let declared: Awaited<ReturnType<typeof makeTeam>>;

beforeAll(async () => {
  pages = await startPages();
  await pages.send("POST", "/teams", { name: "payments", spec: { members: [{ role: "admin", subject: "ada" }] } });
  declared = await makeTeam(pages.store, { name: "declared", namespaces: ["apart", "team-dev"] });
  for (const team of ["payments", "declared"]) {
    const made = await pages.send("POST", "/libraries", { name: `handbook-of-${team}`, team, spec: {} });
    expect(made.status, made.text).toBe(201);
  }
});
afterAll(() => pages.close());

/** What a browser sends of the form while it is filled in. */
const typing = (fields: Record<string, string>) =>
  pages.post(PATH, { preset: "MCPReadOnly", once: "x".repeat(24), ...fields }, BY_SCRIPT);

function manifestIn({ text }: PageResponse) {
  const [, yaml = expect.fail("there is no manifest")] = /<pre id="manifest"[^>]*>(.*?)<\/pre>/s.exec(text) ?? [];
  return parse(yaml.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&"));
}

/** What is said to be wrong, by the field that it leads to. */
const faultsIn = ({ text }: PageResponse) =>
  Object.fromEntries(
    [...text.matchAll(/<li><a href="#(\w+)">([^<]*)<\/a>/g)].map(([, field = "", fault]) => [field, fault]),
  );

describe("The manifest of a key that is being made", () => {
  test("stands beside the form, and says what it still lacks", async () => {
    const page = await pages.get("/keys/new");
    expect(manifestIn(page)).toEqual({
      ...{ apiVersion: "keyplane.dev/v1alpha1", kind: "PlatformKey", metadata: { name: "" } },
      spec: { preset: "GatewayDefault" },
    });
    expect(page.text).toContain("It still lacks a name and a team.");
    expect(page.text).not.toContain('data-copy="manifest"');
    expect(faultsIn(page)).toEqual({});
  });

  test("is what the key is exported as once it is made, but for the digest of its secret", async () => {
    const typed = {
      ...{ name: "checkout", team: "declared", preset: "GatewayDefault", displayName: "Till: 'no' & \"yes\"" },
      ...{ libraryAccess: "Restricted", libraries: "handbook-of-declared", networks: "10.0.0.0/8, ::1/128" },
      ...{ lifetime: "date", expires: "2099-01-01T00:00", requestsPerMinute: "60", concurrent: "3" },
      ...{ budgetOf: "tokens", budgetAmount: "1,000,000", budgetPeriod: "Day" },
    };
    const shown = await typing(typed);
    expect(shown.text).toContain('data-copy="manifest"');
    const made = await pages.post("/keys/new", { ...typed, once: "y".repeat(24) });
    expect(made.status).toBe(201);
    const [{ id }] = (await pages.send("GET", "/keys?name=checkout")).body.items;
    const { metadata, spec } = (await pages.send("GET", `/keys/${id}/manifest`)).body;
    const { source, ...declared } = spec;
    expect(source.hash.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(manifestIn(shown)).toEqual({
      ...{ apiVersion: "keyplane.dev/v1alpha1", kind: "PlatformKey" },
      metadata: { name: metadata.name, namespace: metadata.namespace },
      spec: declared,
    });
    expect(shown.text).not.toMatch(/sha256|inf_|annotations/);
    expect(shown.text).toContain("<li>MemoryLibrary handbook-of-declared</li>");
  });

  test("is a fragment for a script, makes nothing, and writes nothing of what was typed down", async () => {
    const { text, status, headers } = await typing({ name: "unmade", team: "payments", displayName: "Only typed" });
    expect([status, headers.get("cache-control"), text.includes("<html")]).toEqual([200, "no-store", false]);
    expect((await pages.send("GET", "/keys?name=unmade")).body.items).toEqual([]);
    expect(pages.lines.join("\n")).not.toContain("Only typed");
  });

  test("says of a team without a namespace that a PlatformKey needs one", async () => {
    const shown = await typing({ name: "loose", team: "payments" });
    expect(manifestIn(shown).metadata).toEqual({ name: "loose" });
    expect(shown.text).toContain("this team holds none in a cluster");
  });

  test("counts an end in days from now", async () => {
    const { expiresAt } = manifestIn(await typing({ name: "ends", team: "payments", lifetime: "7d" })).spec;
    expect(Math.abs(Date.parse(expiresAt) - Date.now() - 7 * 86_400_000)).toBeLessThan(120_000);
  });

  test("b206: says of a name that a declaration has there that it would change that key, and is not copied", async () => {
    await reserveKey(pages.store, declared, { key: { name: "standing" } });
    const { text } = await typing({ name: "standing", team: "declared" });
    expect(text).toContain("PlatformKey apart/standing is declared already");
    expect(text).not.toContain('data-copy="manifest"');
    const other = await typing({ name: "standing-2", team: "declared" });
    expect(other.text).not.toContain("is declared already");
    expect(other.text).toContain('data-copy="manifest"');
  });

  test("without script is shown by a button, on the form's page with all that was typed", async () => {
    const typed = { name: "by-button", team: "payments", budgetOf: "tokens", budgetAmount: "many" };
    const page = await pages.post(PATH, { preset: "MCPReadOnly", once: "z".repeat(24), ...typed });
    expect([page.status, page.text.match(/<h1/g)?.length]).toEqual([200, 1]);
    expect(page.text).toContain('value="by-button"');
    expect(page.text).toContain(`name="once" value="${"z".repeat(24)}"`);
    expect(page.text).toMatch(/id="budgetAmount-error">Amount: write a whole number of tokens/);
    expect(page.text).not.toContain("Nothing was changed");
    expect(manifestIn(page).spec.budgets[0].tokens).toBe("many");
  });
});

describe("What would be refused of a declaration", () => {
  test.for([
    ["a budget of no number", { budgetOf: "tokens", budgetAmount: "many" }, "budgetAmount", /^Amount: write a whole/],
    ["no currency", { budgetOf: "cost", budgetAmount: "5" }, "budgetCurrency", /^Currency: write its three letters/],
    ["a date that is missing", { lifetime: "date" }, "expires", /^Expires: choose a day and a time/],
    ["a burst without a rate", { burst: "5" }, "requestsPerMinute", /^Type how many requests a minute/],
    ["a network with bits behind its length", { networks: "10.0.0.1/8" }, "networks", /^Networks: /],
    ["a name of capital letters", { name: "Checkout" }, "name", /^Name: /],
    ["a team that there is not", { team: "none" }, "team", /^Team: is not one of your teams/],
    ["a library that there is not", { defaultLibrary: "none" }, "defaultLibrary", /^MCP default library: there is no/],
  ] as const)("is said at its field and in the form's words: %s", async ([, typed, field, words]) => {
    const shown = await typing({ name: "judged", team: "payments", ...typed });
    expect(faultsIn(shown)).toEqual({ [field]: expect.stringMatching(words) });
    expect(shown.text).not.toContain('data-copy="manifest"');
    const made = await pages.post("/keys/new", {
      preset: "MCPReadOnly",
      name: "judged",
      team: "payments",
      ...typed,
      once: "w".repeat(24),
    });
    expect(made.status).toBe(422);
    expect(made.text).toContain(`id="${field}-error"`);
  });

  test("is said before there is a team, and a name that is not typed yet is no fault", async () => {
    const shown = await typing({ networks: "everywhere" });
    expect(Object.keys(faultsIn(shown))).toEqual(["networks"]);
    expect(faultsIn(await typing({}))).toEqual({});
  });

  test("has the names that are taken, and what a policy asks for", async () => {
    await pages.send("POST", "/keys", { name: "taken", team: "payments", spec: { preset: "MCPReadOnly" } });
    expect(faultsIn(await typing({ name: "taken", team: "payments" }))).toEqual({
      name: expect.stringContaining("is taken by another key"),
    });
    await run(pages.store, (tx) => {
      const spec = { teamSelector: {}, gracePeriod: "168h", maxKeys: 100, expiry: { required: true } };
      const rules = rulesInForce(spec, [], "2026-11-01T00:00:00Z");
      return savePolicy(tx, { cluster: "c1", uid: "policy", name: "production", spec, teams: [], rules });
    });
    expect(faultsIn(await typing({ name: "endless", team: "payments" }))).toEqual({
      lifetime: expect.stringContaining("(PlatformKeyPolicy production)"),
    });
    await sql`delete from key_policies`.execute(pages.store.db);
  });
});

test("A key that is pasted into a field is not repeated by the manifest", async () => {
  const { secret } = (
    await pages.send("POST", "/keys", { name: "pasted", team: "payments", spec: { preset: "MCPReadOnly" } })
  ).body;
  for (const field of ["name", "displayName", "networks", "gateway", "budgetAmount"]) {
    const given = { name: "safe", team: "payments", preset: "GatewayDefault", budgetOf: "tokens", budgetAmount: "5" };
    expect([field, (await typing({ ...given, [field]: secret })).text.includes(secret)]).toEqual([field, false]);
  }
});

test("A form that is larger than any key needs is refused before it is read, and so is one of another's page", async () => {
  const { cookie } = pages.browser;
  expect((await typing({ displayName: "x".repeat(70_000) })).status).toBe(413);
  const body = new URLSearchParams({ name: "forged", team: "payments", preset: "MCPReadOnly" });
  const forged = { method: "POST", body, headers: { cookie, origin: pages.url, ...BY_SCRIPT } };
  expect((await fetch(`${pages.url}/dashboard${PATH}`, forged)).status).toBe(403);
});
