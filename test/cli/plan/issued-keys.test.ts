import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { key, keyplane, team } from "../up.ts";

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

/** Plans a branch against what main has. */
async function plan(main: Files, branch: Files) {
  const paths = ["-f", write("branch", branch), "--base", write("main", main)];
  const { code, out } = await keyplane(["plan", ...paths, "--detailed-exitcode"]);
  return { code, lines: out.trimEnd().split("\n") };
}

const REQUIRED = policy("expiry: { required: true, max: 720h }, gracePeriod: 168h");
const UNUSED = "when it was last used is known to a running server alone";

function policy(rules: string): string {
  return `apiVersion: keyplane.dev/v1alpha1\nkind: PlatformKeyPolicy\nmetadata: { name: production }\nspec: { teamSelector: {}, ${rules} }\n`;
}

function library(name: string): string {
  return `apiVersion: keyplane.dev/v1alpha1\nkind: MemoryLibrary\nmetadata: { name: ${name}, namespace: dev }\nspec: {}\n`;
}

/** Sets of manifests in which an installation may have issued key `a` before. */
const READ = "scopes: [memory:read]";
const WRITE = "scopes: [memory:read, memory:write]";
const WIDENED = "~ update PlatformKey dev/a: scopes: memory:read -> memory:read, memory:write";
const TEAM = team("research", "dev");
const OLDER = { team: TEAM, policy: REQUIRED };
const ENDED = [`- revoke PlatformKey dev/a: ${UNUSED}`, "- delete Secret dev/a"];
const BOUND = `gatewayRef: { name: elsewhere }, ${READ}`;
const SUSPENDED = `${READ}, state: Suspended`;
const EXPIRED = `${READ}, expiresAt: 2020-01-01T00:00:00Z`;

describe("c103: a plan against other manifests shows what a branch does to a key that may be issued", () => {
  test.each<[what: string, rest: Files, before: string, after: string | undefined, says: readonly string[]]>([
    [
      "a revocation, where a policy is younger than the key",
      OLDER,
      READ,
      `${READ}, state: Revoked`,
      [`- revoke PlatformKey dev/a, as declared: ${UNUSED}`],
    ],
    ["wider scopes, where a policy is younger than the key", OLDER, READ, WRITE, [WIDENED]],
    ["a deletion, where a policy is younger than the key", OLDER, READ, undefined, ENDED],
    [
      "wider scopes, where the gateway is declared elsewhere",
      { team: TEAM },
      BOUND,
      `gatewayRef: { name: elsewhere }, ${WRITE}`,
      [WIDENED],
    ],
    ["a deletion, where the gateway is declared elsewhere", { team: TEAM }, BOUND, undefined, ENDED],
    [
      "wider scopes, where the team is declared elsewhere",
      {},
      READ,
      WRITE,
      ['~ update PlatformKey dev/a: spec.scopes: ["memory:read"] -> ["memory:read","memory:write"]'],
    ],
    [
      "a deletion, where the team is declared elsewhere",
      {},
      READ,
      undefined,
      ["- delete PlatformKey dev/a: any key issued for it ends"],
    ],
    [
      "the end of a suspension",
      { team: TEAM },
      SUSPENDED,
      READ,
      ["~ update PlatformKey dev/a: state: Suspended -> Active"],
    ],
    [
      "a later end of a key that has ended",
      { team: TEAM },
      EXPIRED,
      `${READ}, expiresAt: 2999-01-01T00:00:00Z`,
      ["~ update PlatformKey dev/a: expires: 2020-01-01T00:00:00.000Z -> 2999-01-01T00:00:00.000Z"],
    ],
    ["the deletion of a suspended key", { team: TEAM }, SUSPENDED, undefined, ENDED],
    ["the deletion of a key that has ended", { team: TEAM }, EXPIRED, undefined, ENDED],
    [
      "the deletion of a key that is revoked already",
      { team: TEAM },
      `${READ}, state: Revoked`,
      undefined,
      ["- delete PlatformKey dev/a: its key is revoked already"],
    ],
  ])("%s", async (_, rest, before, after, says) => {
    const branch = after === undefined ? {} : { a: key("a", after) };
    const { code, lines } = await plan(
      { ...rest, a: key("a", before), z: library("z") },
      { ...rest, ...branch, z: library("z") },
    );
    expect([code, lines.filter((line) => !line.startsWith("!")).slice(0, -1)]).toEqual([2, says]);
    expect(lines.at(-1)).toMatch(
      after === undefined ? /^0 to create, 0 to change, 1 to delete/ : /^0 to create, 1 to change, 0 to delete/,
    );
    expect(lines.join()).not.toContain("not issued");
  });
});

test("c104: a plan against other manifests does not call standing breaches of policies new", async () => {
  const main = { ...OLDER, a: key("a", READ) };
  const paths = ["-f", write("branch", { ...main, notes: library("notes") }), "--base", write("main", main)];
  expect(await keyplane(["plan", ...paths, "--fail-on", "blocked"])).toMatchObject({
    code: 0,
    out: "+ create MemoryLibrary dev/notes\n1 to create, 0 to change, 0 to delete, 3 unchanged\n",
  });
});

const KEYS = [
  READ,
  WRITE,
  SUSPENDED,
  EXPIRED,
  BOUND,
  `${SUSPENDED}, gatewayRef: { name: elsewhere }`,
  `${READ}, state: Revoked`,
  `${READ}, expiresAfter: 2160h`,
  `${READ}, rotation: { interval: 720h }, deletionProtection: true`,
  `${READ}, libraryAccess: { mode: Restricted, libraryRefs: [{ name: elsewhere }] }`,
  `${READ}, secret: { name: same }`,
  `${READ}, secret: { name: same }, owner: another`,
  `${READ}, rateLimit: { requestsPerMinute: 100, concurrent: 50 }, budgets: [{ period: Month, tokens: 100 }]`,
];

test.each([
  "expiry: { required: true, max: 720h }",
  "expiry: { required: true, default: 24h }, gracePeriod: 24h",
  "allowedScopes: [memory:read], rotation: { maxInterval: 24h }",
  "allowedGateways: [{ namespace: dev, name: other }], allowedCIDRs: [10.0.0.0/8], gracePeriod: 24h",
  "maxKeys: 3",
  "rateLimit: { requestsPerMinute: { default: 5, max: 10 }, concurrent: { max: 3 } }, gracePeriod: 24h",
  "budgets: [{ period: Month, tokens: 10 }]",
])("c104: a plan of the same manifests says nothing of any key, with a policy of %s", async (rules) => {
  const keys = Object.fromEntries(KEYS.map((spec, i) => [`k${i}`, key(`k${i}`, spec)]));
  const files = { team: TEAM, policy: policy(rules), ...keys };
  expect(await plan(files, files)).toEqual({
    code: 0,
    lines: [`0 to create, 0 to change, 0 to delete, ${KEYS.length + 2} unchanged`],
  });
});
