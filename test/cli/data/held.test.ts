/** What is held as it was before, as those see it who run `keyplane up` and look at their keys. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../env/until.ts";
import { key, keyplane, makeHome, startUp, team, type Up } from "../up.ts";

const home = makeHome();
const data = ["--data", home.data];
let up: Up;
let secret: string;

beforeAll(async () => {
  home.write("team.yaml", team("research", "dev"));
  home.write("all.yaml", key("agent") + key("batch"));
  home.write("faulty.yaml", key("faulty"));
  up = await startUp(home);
  for (const name of ["agent", "batch", "faulty"]) await up.waitFor("dev", name, "Ready");
  secret = up.secretOf("dev", "agent");
});
afterAll(async () => {
  await up?.stop();
  home.remove();
});

describe("c49: what is held as before", () => {
  test("is said on the terminal, by get and by doctor, with what to do, and works on", async () => {
    home.write("all.yaml", "");
    home.write("faulty.yaml", key("faulty", "preset: MCPReadOnli"));
    await until("it is said", () => up.output().includes("all.yaml is empty"));
    expect(up.output()).toMatch(
      /^\d\d:\d\d:\d\d warn {2}2 declarations are gone from the manifests \(PlatformKey dev\/agent, PlatformKey dev\/batch\): all\.yaml is empty\. Write it again; to end what was in it, delete it\.$/m,
    );
    await looksHeld();
    expect(await up.call(secret)).toBe(200);
  });

  test("is held after a restart, too", async () => {
    await up.stop();
    up = await startUp(home);
    await until("it is said", () => up.output().includes("all.yaml is empty"));
    await looksHeld();
    expect(await up.call(secret)).toBe(200);
  });

  test("ends within seconds once the file is deleted", async () => {
    home.write("faulty.yaml", key("faulty"));
    rmSync(join(home.manifests, "all.yaml"));
    await until("its end", async () => (await up.call(secret)) === 401);
    const removed = "gone from the manifests, and removed: PlatformKey dev/agent, PlatformKey dev/batch";
    await until("it is said", () => up.output().includes(removed));
    await until("nothing is held", async () => !(await keyplane(["get", "keys", ...data])).out.includes("held"));
  });
});

async function looksHeld(): Promise<void> {
  const { out } = await keyplane(["get", "keys", ...data]);
  expect(out).toMatch(/^dev +agent +True +Ready/m);
  expect(out).toContain(
    "\nheld as before: PlatformKey dev/agent, PlatformKey dev/batch\n  all.yaml is empty. Write it again;",
  );
  expect(out).toMatch(/\nheld as before: PlatformKey dev\/faulty\n {2}\S+faulty\.yaml:4:\d+: error: spec\.preset: /);
  const { items } = JSON.parse((await keyplane(["get", "keys", ...data, "-o", "json"])).out);
  const reasons = items.map(({ metadata: { name, annotations } }: Item) => [name, annotations?.["keyplane.dev/held"]]);
  expect(Object.fromEntries(reasons)).toMatchObject({ agent: expect.stringContaining("all.yaml is empty") });
  const { code, out: findings } = await keyplane(["doctor", ...data]);
  expect(code).toBe(1);
  expect(findings).toMatch(
    /^error {2}held-declarations: held as before: PlatformKey dev\/agent, PlatformKey dev\/batch: all\.yaml is empty/m,
  );
}

type Item = { readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> } };
