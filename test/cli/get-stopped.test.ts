import { expect, it } from "vitest";
import { key, keyplane, makeHome, startUp, team } from "./up.ts";

it("keyplane get says that keyplane up is not running, however that has ended", async () => {
  const home = makeHome();
  home.write("all.yaml", team("team-a", "dev") + key("agent"));
  const get = async (...more: string[]) => (await keyplane(["get", "keys", "--data", home.data, ...more])).out;
  const up = await startUp(home);
  try {
    await up.waitFor("dev", "agent", "Ready");
    expect(await get()).not.toContain("not running");
    await up.stop("SIGKILL");
    expect(await get()).toMatch(/agent +True +Ready(.*\n)*.*keyplane up is not running/);
    expect(JSON.parse(await get("-o", "json")).items).toHaveLength(1);
  } finally {
    await up.stop();
    home.remove();
  }
});
