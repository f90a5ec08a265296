import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../env/until.ts";
import { type Home, key, keyplane, makeHome, startUp, team, tokenOf, type Up } from "../up.ts";

let home: Home;
let up: Up;

/** The plan of some other manifests for what runs. */
async function plan(manifests: string, ...flags: string[]): Promise<{ code: number | null; lines: string[] }> {
  const wanted = makeHome();
  try {
    wanted.write("all.yaml", manifests);
    const { code, out } = await keyplane(["plan", "-f", wanted.manifests, "--data", home.data, ...flags]);
    return { code, lines: out.trim().split("\n") };
  } finally {
    wanted.remove();
  }
}

const today = () => new Date().toISOString().slice(0, 10);
const MANIFESTS = team("research", "dev") + key("used", "preset: MCPReadOnly") + key("unused", "preset: MCPReadOnly");
const NARROWED = MANIFESTS.replace(
  key("used", "preset: MCPReadOnly"),
  key("used", "preset: MCPReadOnly, allowedCIDRs: [192.0.2.0/24]"),
);

beforeAll(async () => {
  home = makeHome();
  home.write("all.yaml", MANIFESTS);
  up = await startUp(home);
  for (const name of ["used", "unused"]) await up.waitFor("dev", name, "Ready");
  await until("a use", async () => (await up.call(up.secretOf("dev", "used"))) === 200);
  await until("the caller's network to be written", async () =>
    (await keyplane(["describe", "key", "dev/used", "--data", home.data])).out.includes("Called from:"),
  );
});
afterAll(async () => {
  await up?.stop();
  home.remove();
});

test("keyplane plan says whom of late a key's narrower networks refuse, and that fails no check", async () => {
  const { code, lines } = await plan(NARROWED, "--fail-on", "blocked");
  expect(code).toBe(0);
  expect(lines).toEqual([
    "~ update PlatformKey dev/used: networks: any -> 192.0.2.0/24",
    `! PlatformKey dev/used refuses calls from 127.0.0.0/24, where it was last used on ${today()}`,
    "0 to create, 1 to change, 0 to delete, 2 unchanged, 1 to look at",
  ]);
});

test("keyplane plan says so of each key where the team's networks become narrower", async () => {
  const narrowed = MANIFESTS.replace("spec: {", "spec: { allowedCIDRs: [127.0.0.8/29], ");
  const { lines } = await plan(narrowed);
  expect(lines).toContain(
    `! PlatformKey dev/used refuses calls from a part of 127.0.0.0/24, where it was last used on ${today()}`,
  );
  expect(lines.filter((line) => line.includes("dev/unused"))).toEqual([]);
});

test("keyplane plan says nothing where the callers of late stay within the networks", async () => {
  const { lines } = await plan(NARROWED.replace("192.0.2.0/24", "127.0.0.0/8"));
  expect(lines.filter((line) => line.startsWith("!"))).toEqual([]);
});

test("keyplane get and describe show from where a key was called, as a server knows it", async () => {
  const described = (await keyplane(["describe", "key", "dev/used", "--data", home.data])).out;
  expect(described).toMatch(new RegExp(`Called from: +127.0.0.0/24, last on ${today()}`));
  const { out } = await keyplane(["get", "keys", "-o", "wide", "--server", up.url], { KEYPLANE_TOKEN: tokenOf(home) });
  expect(out).toContain("CALLED FROM");
  expect(out).toContain("127.0.0.0/24");
});

test("keyplane plan without a server that runs says that it does not know whom narrower networks refuse", async () => {
  await up.stop();
  const { lines } = await plan(NARROWED);
  expect(lines).toContain(
    "! PlatformKey dev/used gets narrower networks, and whom they refuse is known to a running server alone",
  );
});
