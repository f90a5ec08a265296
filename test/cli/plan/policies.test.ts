import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readBase } from "../../../cli/plan/base.ts";
import { isHeld } from "../../../cli/plan/compared.ts";
import { type CurrentObject, makePlan } from "../../../cli/plan/make-plan.ts";
import { key, team } from "../up.ts";

const NOW = Date.parse("2026-11-01T00:00:00Z");

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-plan-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Files = Readonly<Record<string, string>>;

function write(side: string, files: Files): string {
  const path = join(folder, side);
  mkdirSync(path);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, `${name}.yaml`), text);
  return path;
}

/** What a plan says that has some files in the place of others. */
async function plan(main: Files, branch: Files): Promise<string[]> {
  const { objects } = await planOf(readBase(write("main", main), NOW), branch);
  return objects.flatMap(({ changes }) => changes.map(({ text }) => text));
}

function planOf(held: readonly CurrentObject[], branch: Files, isWhole = true) {
  return makePlan({
    paths: [write("branch", branch)],
    stdin: undefined,
    held,
    isWhole,
    lookups: { lastUsedAt: () => null, callersOf: () => undefined },
    findSecrets: async () => () => undefined,
    now: NOW,
  });
}

const policy = (rules: string) =>
  `apiVersion: keyplane.dev/v1alpha1\nkind: PlatformKeyPolicy\nmetadata: { name: production }\nspec: { teamSelector: {}, ${rules} }\n`;
const FILES: Files = {
  team: team("research", "dev"),
  reader: key("reader", "scopes: [memory:read]"),
  writer: key("writer", "scopes: [memory:write]"),
};

test("a plan names the keys that a policy puts under a deadline, and when it is", async () => {
  const said = await plan(FILES, { ...FILES, policy: policy("gracePeriod: 24h, allowedScopes: [memory:read]") });
  expect(said).toEqual([
    "create PlatformKeyPolicy production",
    "update PlatformKey dev/writer: expires: never -> 2026-11-02T00:00:00.000Z",
    expect.stringContaining(
      "PlatformKey dev/writer breaks a policy: The key works until 2026-11-02T00:00:00Z, and is refused from then on until it meets its policies. spec.scopes: memory:write may not be given",
    ),
  ]);
});

test("a plan says that a new key which breaks a policy will not be issued", async () => {
  const main = { team: FILES.team ?? "", policy: policy("allowedScopes: [memory:read]") };
  const said = await plan(main, { ...main, writer: FILES.writer ?? "" });
  expect(said).toEqual([
    "create PlatformKey dev/writer: no key is minted yet",
    expect.stringContaining("PlatformKey dev/writer will not be ready: PolicyViolated: The key is not issued."),
  ]);
});

test("b468: a plan shows no new form of a Secret of an edit that will not be applied", async () => {
  const main = { ...FILES, policy: policy("allowedScopes: [memory:read, memory:write]") };
  const edit = "scopes: [memory:read, gateway:generate], secret: { template: Env }";
  const said = await plan(main, { ...main, reader: key("reader", edit) });
  expect(said.filter((text) => text.startsWith("render"))).toEqual([]);
});

/** What a cluster holds whose objects have these labels, of which `kubectl apply` has put some. */
function labelled(labels: Record<string, string>, applied: Record<string, string>): CurrentObject[] {
  const last = JSON.stringify({ metadata: { labels: applied } });
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": last };
  return readBase(write("main", FILES), NOW).map((one) => ({
    ...one,
    metadata: { ...one.metadata, labels, annotations },
  }));
}

test.each([{}, { "app.kubernetes.io/instance": "keys" }])(
  "a plan against a cluster leaves the labels that other tools have put on objects there, applied ones %j",
  async (applied) => {
    const held = labelled({ "app.kubernetes.io/instance": "keys" }, applied);
    expect((await planOf(held, FILES, false)).objects).toEqual([]);
  },
);

test("a plan against a cluster shows that a label goes which was applied, and is no longer in the files", async () => {
  const { team = "" } = FILES;
  const { objects } = await planOf(
    labelled({ tier: "paid", "example.com/by": "hand" }, { tier: "paid" }),
    { team },
    false,
  );
  expect(objects.flatMap(({ changes }) => changes.map(({ text }) => text))).toEqual([
    'update PlatformTeam research: metadata.labels.tier: "paid" -> none',
  ]);
});

test("b471: a plan counts no key that is revoked, while something else holds its object", async () => {
  const rules = policy("gracePeriod: 24h, maxKeys: 2");
  const held = readBase(write("main", { ...FILES, rules }), NOW).map((one) =>
    one.metadata.name === "reader"
      ? {
          ...one,
          metadata: { ...one.metadata, deletionTimestamp: "2026-10-31" },
          status: { ...one.status, revocation: { sequence: 1 } },
        }
      : one,
  );
  const { team: ours = "", writer = "" } = FILES;
  const third = key("third", "scopes: [memory:read]");
  const { objects } = await planOf(
    (held as CurrentObject[]).filter(isHeld),
    { team: ours, writer, rules, third },
    false,
  );
  expect(objects.map(({ name, action }) => `${action} ${name}`)).toEqual(["create third"]);
  expect(objects.flatMap(({ changes }) => changes.filter(({ sign }) => sign === "!"))).toEqual([]);
});

test("b471: a plan against a cluster shows that a key whose deletion waits goes where its protection is lifted", async () => {
  const guarded = (isProtected: boolean) => key("reader", `scopes: [memory:read], deletionProtection: ${isProtected}`);
  const held = readBase(write("main", { ...FILES, reader: guarded(true) }), NOW).map((one) =>
    one.metadata.name === "reader" ? { ...one, metadata: { ...one.metadata, deletionTimestamp: "2026-10-31" } } : one,
  );
  expect(await planOf(held, { reader: guarded(false) }, false)).toMatchObject({
    objects: [
      {
        action: "delete",
        changes: [
          { text: "update PlatformKey dev/reader: spec.deletionProtection: true -> false" },
          { text: "revoke PlatformKey dev/reader, since its deletion goes on: never used" },
          { text: "delete Secret dev/reader" },
        ],
      },
    ],
    unchanged: 2,
  });
});

test("a plan says nothing where a policy and its keys stay as they are", async () => {
  const rules = "expiry: { default: 480h }, rateLimit: { concurrent: { default: 4 } }";
  const files = { ...FILES, policy: policy(rules) };
  expect(await plan(files, files)).toEqual([]);
});

const AMOUNTS =
  "rateLimit: { tokensPerMinute: { default: 4 } }, budgets: [{ period: Month, tokens: 100 }, { period: Day, cost: '1.5', currency: USD }]";

test("b161: a plan takes tokens and budgets of a policy for held that are", async () => {
  const files = { ...FILES, policy: policy(AMOUNTS) };
  expect(await plan(files, files)).toEqual([]);
});

test("b161: a plan says which tokens and budgets of a new policy come to hold", async () => {
  const said = await plan(FILES, { ...FILES, policy: policy(`gracePeriod: 1h, ${AMOUNTS}`) });
  expect(said).toHaveLength(3);
  expect(said[1]).toMatch(/4 tokens a minute come to hold.* 100 tokens a month \(UTC\) come to hold.* 1.50 USD a day/);
});

test("b161: a plan names a key's budgets that change once", async () => {
  const budgeted = (tokens: number) =>
    key("reader", `scopes: [memory:read], budgets: [{ period: Month, tokens: ${tokens} }]`);
  expect(await plan({ ...FILES, reader: budgeted(100) }, { ...FILES, reader: budgeted(90) })).toEqual([
    "update PlatformKey dev/reader: budgets: 100 tokens a month (UTC), refuses -> 90 tokens a month (UTC), refuses",
  ]);
});

test("b161: a plan says nothing of two policies whose budgets are as large, in whichever order it finds them", async () => {
  const rules = (zone: string) => `budgets: [{ period: Month, tokens: 100, timeZone: ${zone} }]`;
  const [berlin, utc] = [policy(rules("Europe/Berlin")), policy(rules("UTC")).replace("production", "another")];
  expect(await plan({ ...FILES, a: berlin, b: utc }, { ...FILES, a: utc, b: berlin })).toEqual([]);
});

const READERS = policy("gracePeriod: 24h, allowedScopes: [memory:read]");

test("c103: a plan shows a field that its policies keep from being applied, beside one that is applied", async () => {
  const main = { ...FILES, policy: READERS };
  const wider = key("reader", "scopes: [memory:read, memory:write], state: Suspended");
  const said = await plan(main, { ...main, reader: wider });
  expect(said.slice(0, 2)).toEqual([
    'update PlatformKey dev/reader: spec.scopes: ["memory:read"] -> ["memory:read","memory:write"]',
    "update PlatformKey dev/reader: state: Active -> Suspended",
  ]);
});

test.each<[what: string, spec: string | undefined, action: string, says: readonly string[]]>([
  [
    "new scopes",
    "scopes: [memory:read, memory:write]",
    "change",
    ['spec.scopes: ["memory:write"] -> ["memory:read","memory:write"]'],
  ],
  ["a suspension", "scopes: [memory:write], state: Suspended", "change", ['spec.state: "Active" -> "Suspended"']],
  ["a deletion", undefined, "delete", []],
])("c103: a plan shows %s of a key that was never issued, since it breaks a policy", async (_, spec, action, says) => {
  const main: Files = { ...FILES, policy: READERS };
  const why = { status: "False", reason: "PolicyViolated", message: "", lastTransitionTime: "" } as const;
  const conditions = (["Ready", "PolicyViolated"] as const).map((type) => ({ ...why, type }));
  const held = readBase(write("main", main), NOW).map((object) =>
    object.metadata.name === "writer" ? { ...object, status: { observedGeneration: 1, conditions } } : object,
  );
  const { writer: __, ...others } = main;
  const { objects } = await planOf(held, spec === undefined ? others : { ...others, writer: key("writer", spec) });
  const lines = says.map((change) => `update PlatformKey dev/writer: ${change}`);
  expect(objects).toMatchObject([{ name: "writer", action }]);
  expect(objects.flatMap(({ changes }) => changes).flatMap(({ sign, text }) => (sign === "!" ? [] : [text]))).toEqual(
    action === "delete" ? ["delete PlatformKey dev/writer: any key issued for it ends"] : lines,
  );
});
