import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, type TestContext } from "vitest";
import {
  type EndedUp,
  key,
  keyplane,
  makeHome,
  startUp,
  startUpProcess,
  team,
  type UpProcess,
  upArgs,
} from "../cli/up.ts";
import { until } from "../env/until.ts";

function newHome(context: TestContext) {
  const home = makeHome();
  context.onTestFinished(() => home.remove());
  home.write("team.yaml", team("team-a", "dev"));
  return home;
}

describe("keyplane up, as its user sees it", () => {
  const home = makeHome();
  let up: UpProcess;
  /** Another one on the same data, and how long it took to end: it waits while the tests go on. */
  let second: Promise<EndedUp & { readonly tookMs: number }>;
  beforeAll(async () => {
    home.write("team.yaml", team("team-a", "dev"));
    home.write("keys.yaml", key("agent") + key("reader", "preset: MCPReadOnly"));
    up = await startUpProcess(home);
    const startedAt = performance.now();
    second = keyplane(upArgs(home)).then((ended) => ({ ...ended, tookMs: performance.now() - startedAt }));
  });
  afterAll(async () => {
    await up?.stop("SIGKILL");
    home.remove();
  });

  it("says where it serves on a line of its own, delivers the declared keys, and shows them", async () => {
    expect(up.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(up.output().split("\n")).toContain(`ready ${up.url}`);
    await up.waitFor("dev", "agent", "Ready");
    await up.waitFor("dev", "reader", "Ready");
    const plaintext = up.secretOf("dev", "agent");
    expect(await up.call(plaintext)).toBe(200);

    const table = await keyplane(["get", "keys", "--data", home.data]);
    expect(table.code).toBe(0);
    const [headings, ...rows] = table.out.trimEnd().split("\n");
    expect(headings?.split(/\s{2,}/)).toEqual(
      expect.arrayContaining(["NAMESPACE", "NAME", "READY", "REASON", "PREFIX", "SCOPES", "SECRET", "EXPIRES"]),
    );
    expect(rows.map((row) => row.split(/\s{2,}/).slice(0, 4))).toEqual([
      ["dev", "agent", "True", "Ready"],
      ["dev", "reader", "True", "Ready"],
    ]);
    expect(table.out).toContain(plaintext.slice(0, 12));

    const json = await keyplane(["get", "keys", "--data", home.data, "-o", "json"]);
    const { kind, items } = JSON.parse(json.out);
    expect(kind).toBe("List");
    expect(items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(["agent", "reader"]);
    expect(items[0].status).toMatchObject({ keyPrefix: plaintext.slice(0, 12), team: "team-a", currentVersion: 1 });
    for (const text of [table.out, json.out, up.output()]) expect(text).not.toContain(plaintext.slice(0, 13));
  });

  it("follows an edit of a manifest without a new secret, and a removal with a refusal", async () => {
    home.write("edited.yaml", key("edited", "preset: MCPReadOnly"));
    await up.waitFor("dev", "edited", "Ready");
    const plaintext = up.secretOf("dev", "edited");
    const save = () =>
      fetch(`${up.url}/atoms`, {
        method: "POST",
        headers: { authorization: `Bearer ${plaintext}`, "content-type": "application/json" },
        body: JSON.stringify({ content: "x", library: "none" }),
      }).then(({ status }) => status);
    expect(await save()).toBe(403);
    home.write("edited.yaml", key("edited", "preset: MCPReadWrite"));
    await until("the new scope", async () => (await save()) !== 403);
    expect(up.secretOf("dev", "edited")).toBe(plaintext);
    rmSync(join(home.manifests, "edited.yaml"));
    await until("the refusal", async () => (await up.call(plaintext)) === 401);
    await until("no Secret", () => !existsSync(join(home.data, "secrets/dev/edited")));
  });

  it("names the fault of a manifest with its place, and serves the others", async () => {
    home.write("bad.yaml", key("bad", "scopes: [memory:reed]") + key("good"));
    await up.waitFor("dev", "good", "Ready");
    await until("the fault", () => /bad\.yaml:\d+:\d+/.test(up.output()) && up.output().includes("memory:reed"));
    expect(await up.call(up.secretOf("dev", "good"))).toBe(200);
  });

  it("a second one on the same data waits, then ends with exit code 2 and says what to do", async () => {
    const { code, err, tookMs } = await second;
    expect(code).toBe(2);
    expect(err).toMatch(
      /another keyplane process is using .*: stop it first, or choose another folder with --data \(pid \d+ on .+\)/,
    );
    expect(tookMs).toBeGreaterThan(14_000);
    expect(await up.call(up.secretOf("dev", "agent"))).toBe(200);
  });

  it("ends with exit code 0 at SIGTERM, and a successor takes over at once and has the same keys", async () => {
    const plaintext = up.secretOf("dev", "agent");
    const starting = startUp(home);
    expect(await up.stop("SIGTERM")).toBe(0);
    const successor = await starting;
    onTestFinished(async () => void (await successor.stop()));
    // On a machine too busy to renew its lease in time it is 503 for a while.
    const status = await until("it answers for sure", async () => {
      const answer = await successor.call(plaintext);
      return answer !== 503 && answer;
    });
    expect(status).toBe(200);
    expect(successor.secretOf("dev", "agent")).toBe(plaintext);
  });

  it("serves the same keys from a copy of its folder, which was taken while it had ended", async () => {
    const plaintext = up.secretOf("dev", "agent");
    cpSync(home.data, `${home.data}-backup`, { recursive: true, preserveTimestamps: true });
    rmSync(home.data, { recursive: true });
    renameSync(`${home.data}-backup`, home.data);
    const restored = await startUp(home);
    onTestFinished(async () => void (await restored.stop()));
    await until("it answers", async () => (await restored.call(plaintext)) === 200);
    home.write("later.yaml", key("later"));
    await restored.waitFor("dev", "later", "Ready");
    expect(restored.secretOf("dev", "agent")).toBe(plaintext);
    expect(restored.statusOf("dev", "agent")).toMatchObject({ currentVersion: 1 });
  });
});

describe("wrong use", () => {
  const CASES: readonly (readonly [string, readonly string[], RegExp])[] = [
    ["no command at all", [], /Usage: keyplane/],
    ["an unknown command", ["upp"], /unknown command 'upp'/],
    ["an unknown flag", ["up", "--manifest", "x"], /unknown option '--manifest'/],
    ["no folder of manifests", ["up", "--data", "d"], /--manifests is needed, or the variable KEYPLANE_MANIFESTS/],
    ["no data folder", ["up", "--manifests", "m"], /--data is needed, or the variable KEYPLANE_DATA/],
    ["a port that is none", ["up", "--manifests", "m", "--data", "d", "--port", "http"], /port/],
    ["a folder that is no data folder", ["get", "keys", "--data", "/nonexistent"], /no data folder of keyplane up/],
  ];
  for (const [what, args, says] of CASES) {
    it(`${what} ends with exit code 2 and says what is wrong`, async () => {
      const { code, err } = await keyplane(args);
      expect(err).toMatch(says);
      expect(code).toBe(2);
    });
  }

  it("an unknown format ends with exit code 2 and names the one there is", async (context) => {
    const { code, err } = await keyplane(["get", "keys", "--data", newHome(context).data, "-o", "xml"]);
    expect(err).toMatch(/json/);
    expect(code).toBe(2);
  });

  it("asking for help is no wrong use", async () => {
    const { code, out } = await keyplane(["--help"]);
    expect([code, out.includes("Usage: keyplane")]).toEqual([0, true]);
  });
});

it("keyplane up on a database folder that cannot be opened ends with exit code 1, and nothing of it is removed", async (context) => {
  const home = newHome(context);
  mkdirSync(home.data);
  writeFileSync(join(home.data, "db"), "not a database");
  const { code, err } = await keyplane(upArgs(home));
  expect(err).toMatch(/^keyplane: /);
  expect(code).toBe(1);
  expect(readFileSync(join(home.data, "db"), "utf8")).toBe("not a database");
});
