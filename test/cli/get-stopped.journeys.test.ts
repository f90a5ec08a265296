import { expect, it } from "vitest";
import { until } from "../env/until.ts";
import { key, keyplane, makeHome, startUpProcess, team } from "./up.ts";

it("get, describe, events, audit and doctor say that keyplane up is not running, however that has ended", async () => {
  const home = makeHome();
  home.write("all.yaml", team("team-a", "dev") + key("agent"));
  const get = async (...more: string[]) => (await keyplane(["get", "keys", "--data", home.data, ...more])).out;
  const up = await startUpProcess(home);
  try {
    await up.waitFor("dev", "agent", "Ready");
    expect(await get()).not.toContain("not running");
    home.write("all.yaml", team("team-a", "dev"));
    const held = "held as before: PlatformKey dev/agent\n  what does not come back ends after";
    await until("the wait is said", async () => (await get()).includes(held));
    await up.stop("SIGKILL");
    const stopped = await get();
    expect(stopped).toMatch(/agent +True +Ready(.*\n)*.*keyplane up is not running/);
    expect(stopped).not.toContain("held as before");
    expect(stopped).toContain("held when keyplane up ended, and decided on anew once it runs: PlatformKey dev/agent");
    const [item, ...more] = JSON.parse(await get("-o", "json")).items;
    expect(more).toEqual([]);
    expect(item.metadata.annotations["keyplane.dev/held"]).toMatch(/^when keyplane up ended: what does not come back/);
    const described = await keyplane(["describe", "key", "dev/agent", "--data", home.data]);
    expect([described.code, described.err]).toEqual([0, ""]);
    expect(described.out).toMatch(/^Events:\n {2}<unknown>: keyplane up does not run on /m);
    for (const command of ["events", "audit"]) {
      const { code, out, err } = await keyplane([command, "--data", home.data]);
      expect([code, out, err]).toEqual([1, "", expect.stringMatching(/^keyplane: keyplane up does not run on .*\n$/)]);
    }
    const { out: findings } = await keyplane(["doctor", "--data", home.data]);
    expect(findings).toContain("held when keyplane up ended");
    expect(findings).toMatch(/^error {2}process: keyplane up does not run on /m);
  } finally {
    await up.stop();
    home.remove();
  }
});
