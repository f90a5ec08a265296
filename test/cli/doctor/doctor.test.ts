import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { key, keyplane, makeHome, startUpProcess, team, type UpProcess } from "../up.ts";

const home = makeHome();
let up: UpProcess;

async function doctor(): Promise<{ code: number | null; wrong: string[]; out: string }> {
  const { code, out } = await keyplane(["doctor", "--data", home.data]);
  const lines = out.replaceAll(home.data, "DATA").replaceAll(home.manifests, "DIR").split("\n");
  return { code, out, wrong: lines.filter((line) => line.startsWith("WRONG")).map((line) => line.slice(7)) };
}

beforeAll(async () => {
  home.write("team.yaml", team("research", "dev"));
  home.write("fine.yaml", key("fine"));
  up = await startUpProcess(home, { PLATFORM_API_KEYS: "inf_a-development-placeholder-key" });
  await up.waitFor("dev", "fine", "Ready");
});
afterAll(async () => {
  await up?.stop();
  home.remove();
});

describe("keyplane doctor", () => {
  test("finds nothing wrong with a healthy installation, and notes its placeholder keys", async () => {
    const { code, out, wrong } = await doctor();
    expect([code, wrong]).toEqual([0, []]);
    expect(out).toMatch(/^ok {5}keyplane up runs on .* at http:/m);
    expect(out).toMatch(/^ok {5}the server is ready/m);
    expect(out).toMatch(/^note {3}PLATFORM_API_KEYS gives 1 development key every right of a team/m);
    expect(out).toMatch(/\nnothing is wrong\n$/);
    expect(out).not.toContain("inf_");
  });

  test("finds what others could read, and says how to close it", async () => {
    const secret = join(home.data, "secrets", "dev", "fine", "api-key");
    for (const file of [secret, join(home.data, "encryption-key"), home.data]) {
      chmodSync(file, 0o755);
      const { code, wrong } = await doctor();
      const shown = file.replace(home.data, "DATA");
      expect([code, wrong]).toEqual([1, [`${shown} is open to others on this machine: chmod go= '${shown}'`]]);
      chmodSync(file, 0o700);
    }
  });

  test("finds keys that are not ready, with the reason and the next step", async () => {
    home.write("lost.yaml", key("lost", "preset: MCPReadOnly", "nobodys"));
    await up.waitFor("nobodys", "lost", "NamespaceUnclaimed");
    const { code, wrong } = await doctor();
    expect([code, wrong]).toEqual([
      1,
      [expect.stringMatching(/^PlatformKey nobodys\/lost is not ready: NamespaceUnclaimed: .* Add this namespace/)],
    ]);
  });

  test("finds manifests that are faulty, though every key is ready", async () => {
    home.write("lost.yaml", "kind: PlatformKee\n");
    const { code, wrong } = await doctor();
    expect(code).toBe(1);
    expect(wrong).toContainEqual(expect.stringMatching(/1 error.*keyplane validate -f 'DIR'/));
    home.write("lost.yaml", "");
  });

  test("finds that it does not run, also when it was killed", async () => {
    await up.stop("SIGKILL");
    const { code, wrong } = await doctor();
    expect([code, wrong[0]]).toEqual([1, "keyplane up does not run on DATA: start it"]);
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
    expect(wrong).toContainEqual(expect.stringMatching(/^DATA\/secrets\/dev\/fine\/api-key is missing/));
    expect(wrong).toContainEqual(expect.stringMatching(/^DATA\/bootstrap-token is missing: start keyplane up again/));
  });

  test("needs the database and the cluster to tell what a restore has left", async () => {
    const { code, err } = await keyplane(["doctor", "--after-restore"]);
    expect([code, err]).toEqual([2, expect.stringContaining("--database-url is needed")]);
  });

  test("is wrong use on a folder that is none of keyplane up", async () => {
    const { code, err } = await keyplane(["doctor", "--data", home.manifests]);
    expect([code, err]).toEqual([2, expect.stringContaining("is no data folder of keyplane up")]);
  });
});
