import { afterAll, beforeAll, expect, test } from "vitest";
import { rulesInForce } from "../../../../domain/key/policies/rules-in-force.ts";
import type { PlatformKeyPolicySpec } from "../../../../domain/kinds/generated/platform-key-policy.ts";
import { savePolicy } from "../../../../store/policies/key-policies.ts";
import { run } from "../../../store/fixtures.ts";
import { type Pages, startPages } from "../pages.ts";

const [MINUTE_MS, WEEK_MS] = [60_000, 7 * 24 * 3_600_000];

let pages: Pages;

beforeAll(async () => {
  pages = await startPages();
  await pages.send("POST", "/teams", { name: "payments", spec: { members: [{ role: "admin", group: "g" }] } });
});
afterAll(() => pages.close());

const ask = (rules: Partial<PlatformKeyPolicySpec>) =>
  run(pages.store, (tx) => {
    const spec = { teamSelector: {}, gracePeriod: "168h", ...rules };
    const rulesNow = rulesInForce(spec, [], "2026-11-01T00:00:00Z");
    return savePolicy(tx, { cluster: "c1", uid: "policy", name: "production", spec, teams: [], rules: rulesNow });
  });

/** The fields of the form that a page has, as a browser sends them where nothing is typed. */
async function hiddenFields(path: string): Promise<Record<string, string>> {
  const { text } = await pages.get(path);
  const hidden = [...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(hidden.map(([, name, value]) => [name, value?.replaceAll("&quot;", '"')]));
}

const errorAt = (text: string, field: string) =>
  new RegExp(`id="${field}-error">([^<]*)<`).exec(text)?.[1] ?? text.match(/class="error">[^<]*/)?.[0];

test("b131: a form that a policy refuses says at each field what would do, in the form's words", async () => {
  const form = { ...(await hiddenFields("/keys/new")), team: "payments", name: "made", preset: "MCPReadWrite" };
  // The policy comes after the form was opened.
  await ask({ expiry: { required: true, max: "24h" }, allowedScopes: ["memory:read"], allowedModels: ["small"] });
  const refused = await pages.post("/keys/new", form);
  expect(refused.status).toBe(422);
  expect(errorAt(refused.text, "lifetime")).toBe(
    "Lifetime: a key must have an end: choose a time (PlatformKeyPolicy production). Lifetime: a version lives for at most 24h: choose an earlier time (PlatformKeyPolicy production).",
  );
  expect(errorAt(refused.text, "preset")).toBe(
    "Preset: memory:write may not be given: choose none but memory:read (PlatformKeyPolicy production).",
  );
  expect((await pages.send("GET", "/keys?name=made")).body.items).toEqual([]);
  const models = await pages.post("/keys/new", { ...form, preset: "GatewayDefault" });
  expect(errorAt(models.text, "models")).toBe(
    "Models: any model may be named: write none but small (PlatformKeyPolicy production).",
  );

  const expires = new Date(Date.now() + 3_600_000).toISOString().slice(0, 16);
  expect((await pages.post("/keys/new", { ...form, preset: "MCPReadOnly", expires })).status).toBe(201);
  const [{ id }] = (await pages.send("GET", "/keys?name=made")).body.items;
  const edit = `/keys/${id}/edit`;
  const widened = await pages.post(edit, { ...(await hiddenFields(edit)), preset: "MCPReadWrite", expires });
  expect(widened.status).toBe(422);
  expect(errorAt(widened.text, "preset")).toContain("Preset: memory:write may not be given");
});

test("b131: a key that is older than a rule says on its page which policy ends it, when, and what to change", async () => {
  await run(pages.store, async (tx) => {
    await tx.deleteFrom("key_policies").execute();
  });
  const made = await pages.send("POST", "/keys", { name: "older", team: "payments", spec: { preset: "MCPReadWrite" } });
  expect(made.status, made.text).toBe(201);
  const page = `/keys/${made.body.id}`;
  expect((await pages.get(page)).text).not.toContain("A policy of the platform");
  const askedAt = Date.now();
  await ask({ allowedScopes: ["memory:read"], rateLimit: { requestsPerMinute: { max: 60 } } });
  const { text } = await pages.get(page);
  const [notice = ""] = /<div class="notice warn">.*?<\/div>/s.exec(text) ?? [];
  expect(notice).toContain("A policy of the platform ends this key");
  const endsAt = Date.parse(/datetime="([^"]+)"/.exec(notice)?.[1] ?? "");
  // The grace period of seven days begins as the policy first selects the team.
  expect(endsAt).toBeGreaterThan(askedAt + WEEK_MS - MINUTE_MS);
  expect(endsAt).toBeLessThan(Date.now() + WEEK_MS + MINUTE_MS);
  expect(notice).toContain("memory:write may not be given");
  expect(notice).toContain("(PlatformKeyPolicy production)");
  expect(text).toContain("A policy of the platform bounds this key");
});
