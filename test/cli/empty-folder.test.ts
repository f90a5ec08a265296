import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { keyplane, makeHome, startUp } from "./up.ts";

it("keyplane up runs on a folder without a declaration, for what the management API makes", async () => {
  const home = makeHome();
  const up = await startUp(home);
  try {
    expect(await keyplane(["get", "keys", "--data", home.data])).toMatchObject({ code: 0, out: "there are none\n" });
  } finally {
    await up.stop();
    home.remove();
  }
});

it("keyplane up on a file instead of a folder says what to name, and ends with 2", async () => {
  const home = makeHome();
  const file = join(home.manifests, "all.yaml");
  writeFileSync(file, "");
  try {
    const { code, err } = await keyplane(["up", "--manifests", file, "--data", home.data]);
    expect([code, err]).toEqual([2, `keyplane: --manifests ${file}: that is a file: name the folder that it is in\n`]);
  } finally {
    home.remove();
  }
});
