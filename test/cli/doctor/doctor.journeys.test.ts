import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Finding } from "../../../cli/doctor/finding.ts";
import { key, keyplane, makeHome, startUp, team, type Up } from "../up.ts";

const home = makeHome();
let up: Up;

/** What is wrong, as `name: message: action`. */
async function doctor(): Promise<{ code: number | null; wrong: string[] }> {
  const { code, out } = await keyplane(["doctor", "--data", home.data, "-o", "json"]);
  const { findings }: { findings: Finding[] } = JSON.parse(
    out.replaceAll(home.data, "DATA").replaceAll(home.manifests, "DIR"),
  );
  const wrong = findings.filter(({ severity }) => severity === "error");
  return { code, wrong: wrong.map(({ name, message, action }) => `${name}: ${message}: ${action}`) };
}

beforeAll(async () => {
  home.write("team.yaml", team("research", "dev"));
  home.write("fine.yaml", key("fine"));
  up = await startUp(home, { PLATFORM_API_KEYS: "inf_a-development-placeholder-key" });
  await up.waitFor("dev", "fine", "Ready");
});
afterAll(async () => {
  await up?.stop();
  home.remove();
});

describe("keyplane doctor", () => {
  test("finds nothing wrong with a healthy installation, and notes its placeholder keys", async () => {
    expect(await doctor()).toEqual({ code: 0, wrong: [] });
    const { code, out } = await keyplane(["doctor", "--data", home.data]);
    expect(code).toBe(0);
    expect(out).toMatch(/^ok {5}process: keyplane up runs on .* at http:/m);
    expect(out).toMatch(/^ok {5}readiness: the server is ready/m);
    expect(out).toMatch(
      /^note {3}placeholder-keys: PLATFORM_API_KEYS gives 1 development key every right of a team\n {7}leave it out/m,
    );
    expect(out).toMatch(/\nnothing is wrong\n$/);
    expect(out).not.toContain("inf_");
    const yaml = await keyplane(["doctor", "--data", home.data, "-o", "yaml"]);
    expect(parse(yaml.out).findings).toContainEqual({
      ...{ name: "process", severity: "ok", action: null },
      message: expect.stringContaining("keyplane up runs on"),
    });
  });

  test("finds what others could read, and says how to close it", async () => {
    const secret = join(home.data, "secrets", "dev", "fine", "api-key");
    for (const file of [secret, join(home.data, "encryption-key"), home.data]) {
      chmodSync(file, 0o755);
      const { code, wrong } = await doctor();
      const shown = file.replace(home.data, "DATA");
      expect([code, wrong]).toEqual([
        1,
        [`file-modes: ${shown} is open to others on this machine: chmod go= ${shown}`],
      ]);
      chmodSync(file, 0o700);
    }
  });

  test("finds keys that are not ready, with the reason and the next step", async () => {
    home.write("lost.yaml", key("lost", "preset: MCPReadOnly", "unowned"));
    await up.waitFor("unowned", "lost", "NamespaceUnclaimed");
    const { code, wrong } = await doctor();
    expect([code, wrong]).toEqual([
      1,
      [
        expect.stringMatching(
          /^declarations: PlatformKey unowned\/lost: not ready: NamespaceUnclaimed: .* Correct the namespace, or add it/,
        ),
      ],
    ]);
  });

  test("finds manifests that are faulty, though every key is ready", async () => {
    home.write("lost.yaml", "kind: PlatformKee\n");
    const { code, wrong } = await doctor();
    expect(code).toBe(1);
    expect(wrong).toContainEqual(expect.stringMatching(/1 error.*main\.ts validate -f DIR$/));
    home.write("lost.yaml", "");
  });

  test("finds that it does not run", async () => {
    await up.stop();
    const { code, wrong } = await doctor();
    expect([code, wrong[0]]).toEqual([1, "process: keyplane up does not run on DATA: start it"]);
    for (const command of [
      ["revoke", "dev/fine"],
      ["rotate", "dev/fine"],
    ]) {
      const { code, err } = await keyplane([...command, "--data", home.data]);
      expect([code, err]).toEqual([
        1,
        `keyplane: keyplane up does not run on ${home.data}: start it, then try again\n`,
      ]);
    }
  });

  test("finds a Secret and a token that are missing", async () => {
    rmSync(join(home.data, "secrets", "dev", "fine"), { recursive: true });
    rmSync(join(home.data, "bootstrap-token"));
    const { wrong } = await doctor();
    expect(wrong).toContainEqual(expect.stringMatching(/^secrets: DATA\/secrets\/dev\/fine\/api-key is missing/));
    expect(wrong).toContainEqual(
      expect.stringMatching(/^bootstrap-token: DATA\/bootstrap-token is missing: start keyplane up again/),
    );
  });

  test("needs the database and the cluster to find what a restore has left", async () => {
    const { code, err } = await keyplane(["doctor", "--after-restore"]);
    expect([code, err]).toEqual([2, expect.stringContaining("--database-url is needed")]);
  });

  test("finds an encryption key's file that holds something else", async () => {
    const file = join(home.data, "encryption-key");
    const kept = readFileSync(file, "utf8");
    writeFileSync(file, "short");
    const { wrong } = await doctor();
    expect(wrong).toContainEqual(
      expect.stringMatching(
        /^encryption-key: DATA\/encryption-key cannot be used \(encryption key, line 1: must be 32/,
      ),
    );
    writeFileSync(file, kept);
  });

  test("is wrong use where nothing is named to look at", async () => {
    const { code, err } = await keyplane(["doctor"]);
    expect([code, err]).toEqual([2, expect.stringMatching(/^keyplane: say what to look at: --data DIR .*\n$/)]);
  });

  test("is wrong use on a folder that is none of keyplane up", async () => {
    const { code, err } = await keyplane(["doctor", "--data", home.manifests]);
    expect([code, err]).toEqual([2, expect.stringContaining("is no data folder of keyplane up")]);
  });
});
